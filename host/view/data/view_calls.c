/* Keeps distributions of durations, the longest calls, and a sample of the others. */
#include "host/view/data/view_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/latency/latency_find.h"

static struct view_call_row *add_row(struct view_calls *c, uint32_t function)
{
    struct view_call_row *row = NULL;

    if (c->count >= VIEW_CALLS_ROWS_MAX)
        return NULL;
    if (array_grow(&c->rows, c->count, sizeof(void *)) == 0)
        row = calloc(1, sizeof *row);
    if (row == NULL)
        return NULL;
    row->function = function;
    c->rows[c->count++] = row;
    return row;
}

static struct view_call_row *row_of(struct view_calls *c, uint32_t function)
{
    struct view_call_row *row;
    const char *path;

    if (function >= c->function_count)
        return NULL;
    if (c->row_of[function] != 0)
        return c->rows[c->row_of[function] - 1];
    row = add_row(c, function);
    if (row == NULL)
        return NULL;
    c->row_of[function] = c->count;
    row->label = latency_find_label(c->points, function);
    path = c->points->functions[function].path;
    row->object = strdup(path != NULL ? path : "");
    return row;
}

/* Four bins for each power of two. */
static uint32_t bin_of(uint64_t ticks)
{
    uint32_t exponent;

    if (ticks < 4)
        return (uint32_t)ticks;
    exponent = 63u - (uint32_t)__builtin_clzll(ticks);
    return 4 * (exponent - 1) + (uint32_t)(ticks >> (exponent - 2) & 3);
}

static void find_least(struct view_call_row *row)
{
    row->least = 0;
    for (uint32_t i = 1; i < row->worst_count; i++)
        if (row->worst[i].ticks < row->worst[row->least].ticks)
            row->least = i;
}

/* Every call has the same chance to be in the sample. */
static int keep_sample(struct view_calls *c, struct view_call_row *row, const struct view_dot *dot)
{
    uint64_t seen = row->ticks.count, at;

    if (row->sampled_count < VIEW_CALLS_SAMPLED) {
        if (array_grow(&row->sampled, row->sampled_count, sizeof *dot) != 0)
            return -ENOMEM;
        row->sampled[row->sampled_count++] = *dot;
        return 0;
    }
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    at = (c->random >> 11) % seen;
    if (at < VIEW_CALLS_SAMPLED)
        row->sampled[at] = *dot;
    return 0;
}

static int keep(struct view_calls *c, struct view_call_row *row, const struct view_dot *dot)
{
    int error = latency_values_add(&c->pool, &row->ticks, dot->ticks);

    row->bins[bin_of(dot->ticks)]++;
    if (error == 0)
        error = keep_sample(c, row, dot);
    if (error != 0)
        return error;
    if (row->worst_count == VIEW_CALLS_WORST) {
        if (dot->ticks <= row->worst[row->least].ticks)
            return 0;
        row->worst[row->least] = *dot;
    } else {
        if (array_grow(&row->worst, row->worst_count, sizeof *dot) != 0)
            return -ENOMEM;
        row->worst[row->worst_count++] = *dot;
    }
    if (row->worst_count == VIEW_CALLS_WORST)
        find_least(row);
    return 0;
}

static uint64_t since_start(const struct view_calls *c, uint64_t time)
{
    return time > c->info->clock.start_ticks ? time - c->info->clock.start_ticks : 0;
}

static int take_call(void *context, const struct follow_call *call)
{
    struct view_calls *c = context;
    struct view_call_row *row = row_of(c, call->function);
    struct view_dot dot = {.time = since_start(c, call->start),
                           .ticks = call->end - call->start,
                           .value = call->arguments[0],
                           .tid = call->tid,
                           .cpu = call->cpu};

    if (row == NULL) {
        c->refused++;
        return 0;
    }
    row->left += call->how == INVOCATIONS_LEFT;
    row->unknown += call->how == INVOCATIONS_UNKNOWN;
    if (call->how != INVOCATIONS_RETURNED)
        return 0;
    latency_values_sum(&row->own, call->own);
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        latency_values_sum(&row->spent[i], call->spent[i]);
    memcpy(dot.spent, call->spent, sizeof dot.spent);
    return keep(c, row, &dot);
}

static int take_request(void *context, const struct follow_request *request)
{
    struct view_calls *c = context;
    const struct view_dot dot = {.time = since_start(c, request->start),
                                 .ticks = request->end - request->start,
                                 .value = request->number,
                                 .spent = {request->worked, request->blocked},
                                 .tid = request->tid};

    if (c->requests == NULL)
        c->requests = add_row(c, TRACE_POINTS_NONE);
    if (c->requests == NULL) {
        c->refused++;
        return 0;
    }
    c->requests->unknown += !request->begun || !request->ended;
    if (!request->begun || !request->ended)
        return 0;
    latency_values_sum(&c->requests->spent[0], request->worked);
    latency_values_sum(&c->requests->spent[1], request->blocked);
    return keep(c, c->requests, &dot);
}

static int begin(void *context, const struct trace_info *info)
{
    struct view_calls *c = context;

    c->points = &info->points;
    c->function_count = info->points.meta.function_count;
    c->row_of = calloc(c->function_count + 1ul, sizeof c->row_of[0]);
    return c->row_of != NULL ? 0 : -ENOMEM;
}

static int by_tail(const void *a, const void *b)
{
    const struct view_call_row *x = *(struct view_call_row *const *)a;
    const struct view_call_row *y = *(struct view_call_row *const *)b;

    if (x->tail != y->tail)
        return x->tail > y->tail ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

int view_calls_read(struct view_calls *c, const struct trace_scan *scan, bool requests)
{
    const struct follow_visitor visitor = {
        .context = c, .begin = begin, .ended = take_call, .answered = take_request};
    struct follow_sums sums;
    int error;

    if (!scan->info.points.any && !requests)
        return 0;
    c->info = &scan->info;
    error = follow_run(scan, &visitor, &sums);
    c->points = NULL;
    if (error != 0)
        return error;
    c->refused += sums.refused;
    for (uint32_t i = 0; i < c->count; i++)
        c->rows[i]->tail = latency_values_at(&c->rows[i]->ticks, 0.999) -
                           latency_values_at(&c->rows[i]->ticks, 0.5);
    if (c->count != 0)
        qsort(c->rows, c->count, sizeof(void *), by_tail);
    return 0;
}

void view_calls_free(struct view_calls *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        latency_values_free(&c->pool, &c->rows[i]->ticks);
        free(c->rows[i]->label);
        free(c->rows[i]->object);
        free(c->rows[i]->worst);
        free(c->rows[i]->sampled);
        free(c->rows[i]);
    }
    free(c->rows);
    free(c->row_of);
    *c = (struct view_calls){0};
}
