/* Adds invocations to their rows. */
#include "host/latency/latency_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

#define FIRST_BITS 10u

int latency_rows_init(struct latency_rows *rows, const struct trace_info *info)
{
    rows->info = info;
    rows->event_count = latency_order_events(info);
    rows->bits = FIRST_BITS;
    rows->index = calloc(1u << rows->bits, sizeof rows->index[0]);
    return rows->index != NULL ? 0 : -ENOMEM;
}

static void free_row(struct latency_rows *rows, struct latency_row *row)
{
    latency_values_free(&rows->pool, &row->ticks);
    for (uint32_t i = 0; row->counters != NULL && i < rows->event_count; i++)
        latency_values_free(&rows->pool, &row->counters[i]);
    free(row->counters);
    free(row);
}

void latency_rows_free(struct latency_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        free_row(rows, rows->all[i]);
    free(rows->all);
    free(rows->index);
    *rows = (struct latency_rows){0};
}

static uint32_t place_of(uint32_t bits, uint32_t function, uint32_t key)
{
    return (function * 2654435769u ^ key * 2246822519u) * 2654435769u >> (32 - bits);
}

static int grow_index(struct latency_rows *rows)
{
    uint32_t bits = rows->bits + 1;
    uint32_t *index = calloc(1u << bits, sizeof index[0]);

    if (index == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t at = place_of(bits, rows->all[i]->function, rows->all[i]->key);

        while (index[at] != 0)
            at = (at + 1) & ((1u << bits) - 1);
        index[at] = i + 1;
    }
    free(rows->index);
    rows->index = index;
    rows->bits = bits;
    return 0;
}

static struct latency_row *add_row(struct latency_rows *rows, uint32_t function, uint32_t key)
{
    struct latency_row *row;
    uint32_t at;

    if (rows->count == LATENCY_ROWS_MAX)
        return NULL;
    row = calloc(1, sizeof *row);
    if (row != NULL && rows->with_counters)
        row->counters = calloc(rows->event_count + 1u, sizeof row->counters[0]);
    if (row == NULL || (rows->with_counters && row->counters == NULL) ||
        array_grow(&rows->all, rows->count, sizeof(void *)) != 0 ||
        (2 * rows->count >= 1u << rows->bits && grow_index(rows) != 0)) {
        rows->error = -ENOMEM;
        if (row != NULL)
            free_row(rows, row);
        return NULL;
    }
    row->function = function;
    row->key = key;
    at = place_of(rows->bits, function, key);
    while (rows->index[at] != 0)
        at = (at + 1) & ((1u << rows->bits) - 1);
    rows->all[rows->count++] = row;
    rows->index[at] = rows->count;
    return row;
}

static struct latency_row *row_of(struct latency_rows *rows, uint32_t function, uint32_t key)
{
    uint32_t at = place_of(rows->bits, function, key);

    for (; rows->index[at] != 0; at = (at + 1) & ((1u << rows->bits) - 1)) {
        struct latency_row *row = rows->all[rows->index[at] - 1];

        if (row->function == function && row->key == key)
            return row;
    }
    return add_row(rows, function, key);
}

uint32_t latency_rows_key(enum latency_by by, const struct trace_info *info,
                          const struct latency_thread *thread, const struct latency_entry *entry)
{
    switch (by) {
    case LATENCY_BY_CALLER:
        return entry->parent;
    case LATENCY_BY_THREAD:
        return thread->tid;
    case LATENCY_BY_PROCESS:
        return trace_processes_pid(&info->processes, thread->tid, entry->time);
    default:
        return 0;
    }
}

/* Returns the row of an invocation, or NULL if it does not count or there is no room. */
static struct latency_row *find(struct latency_rows *rows, uint32_t function,
                                const struct latency_thread *thread,
                                const struct latency_entry *entry)
{
    struct latency_row *row;

    if (rows->only != TRACE_POINTS_NONE && rows->only != function)
        return NULL;
    row = row_of(rows, function, latency_rows_key(rows->by, rows->info, thread, entry));
    rows->refused += row == NULL;
    return row;
}

void latency_rows_returned(void *context, const struct latency_call *call)
{
    struct latency_rows *rows = context;
    struct latency_row *row = find(rows, call->function, call->thread, call->entry);
    int error;

    if (row == NULL)
        return;
    error = latency_values_add(&rows->pool, &row->ticks, call->ticks);
    latency_values_sum(&row->own, call->own);
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        latency_values_sum(&row->spent[i], call->spent[i]);
    for (uint32_t i = 0; row->counters != NULL && i < rows->event_count && error == 0; i++) {
        uint64_t before = call->entry->counters[i], after = call->hit->counters[i];

        error =
            latency_values_add(&rows->pool, &row->counters[i], after > before ? after - before : 0);
    }
    if (error != 0)
        rows->error = error;
}

void latency_rows_lost(void *context, const struct latency_thread *thread, uint32_t slot,
                       enum invocations_end end)
{
    struct latency_rows *rows = context;
    struct latency_row *row =
        find(rows, thread->open.open[slot].function, thread, &thread->entries[slot]);

    if (row == NULL)
        return;
    row->left += end == INVOCATIONS_LEFT;
    row->unknown += end != INVOCATIONS_LEFT;
}

static double order_of(struct latency_row *row, enum latency_sort sort)
{
    static const double shares[] = {
        [LATENCY_SORT_MEDIAN] = 0.5,
        [LATENCY_SORT_P90] = 0.9,
        [LATENCY_SORT_P99] = 0.99,
        [LATENCY_SORT_P999] = 0.999,
    };

    switch (sort) {
    case LATENCY_SORT_TAIL:
        return (double)(latency_values_at(&row->ticks, 0.999) -
                        latency_values_at(&row->ticks, 0.5));
    case LATENCY_SORT_CALLS:
        return (double)row->ticks.count;
    case LATENCY_SORT_MAX:
        return (double)row->ticks.largest;
    case LATENCY_SORT_TOTAL:
        return (double)row->ticks.sum;
    case LATENCY_SORT_OWN:
        return (double)row->own;
    case LATENCY_SORT_NAME:
        return 0;
    default:
        return (double)latency_values_at(&row->ticks, shares[sort]);
    }
}

static int compare(const void *a, const void *b, void *context)
{
    const struct latency_row *x = *(struct latency_row *const *)a;
    const struct latency_row *y = *(struct latency_row *const *)b;
    const struct trace_points *points = context;
    char room[2][24];
    int names;

    if (x->order != y->order)
        return x->order > y->order ? -1 : 1;
    if (x->longest != y->longest)
        return x->longest > y->longest ? -1 : 1;
    names = strcmp(trace_points_name(points, x->function, room[0]),
                   trace_points_name(points, y->function, room[1]));
    if (names != 0)
        return names;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

void latency_rows_sort(struct latency_rows *rows, enum latency_sort sort)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->all[i]->order = order_of(rows->all[i], sort);
        rows->all[i]->longest = sort == LATENCY_SORT_TAIL ? rows->all[i]->ticks.largest : 0;
    }
    if (rows->count != 0)
        qsort_r(rows->all, rows->count, sizeof(void *), compare,
                (void *)(uintptr_t)&rows->info->points);
    free(rows->index); /* of other numbers */
    rows->index = NULL;
}
