/* Puts distributions and single calls into the page's data. */
#include "host/view/data/view_calls.h"

#include <math.h>
#include <stdlib.h>

#include "host/base/json.h"
#include "host/latency/latency_waits.h"

#define EQUAL_SHARES 64u
#define DECADE 8u /* of the tail: shares in it */
#define DECADES 7u
#define DOT_COLUMNS (5u + LATENCY_SPENT)

static uint32_t dotted(const struct view_calls *c)
{
    return c->count < VIEW_CALLS_DOTTED_MAX ? c->count : VIEW_CALLS_DOTTED_MAX;
}

static uint32_t shown(const struct view_calls *c)
{
    return c->count < VIEW_CALLS_SHOWN_MAX ? c->count : VIEW_CALLS_SHOWN_MAX;
}

static json_t *bins_json(const struct view_call_row *row)
{
    uint32_t first = 0, last = VIEW_CALLS_BINS - 1;
    json_t *list = json_array();

    while (first < last && row->bins[first] == 0)
        first++;
    while (last > first && row->bins[last] == 0)
        last--;
    json_array_append_new(list, json_number(first));
    for (uint32_t i = first; i <= last; i++)
        json_array_append_new(list, json_number(row->bins[i]));
    return list;
}

static json_t *percentiles_json(struct view_call_row *row)
{
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        json_array_append_new(list, json_number(latency_values_at(&row->ticks, shares[i])));
    json_array_append_new(list, json_number(row->ticks.largest));
    return list;
}

static json_t *row_json(struct view_call_row *row)
{
    bool requests = row->function == TRACE_POINTS_NONE;
    json_t *spent = json_array();

    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        json_array_append_new(spent, json_number(row->spent[i]));
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "requests",
                     requests, "name", json_text(row->label != NULL ? row->label : "requests"),
                     "object", json_text(row->object != NULL ? row->object : ""), "calls",
                     json_number(row->ticks.count), "left", json_number(row->left), "unknown",
                     json_number(row->unknown), "total", json_number(row->ticks.sum), "own",
                     json_number(row->own), "spent", spent, "percentiles", percentiles_json(row),
                     "bins", bins_json(row), "rounded", !latency_values_exact(&row->ticks));
}

/* Those of which durations are in the column "quantiles". */
static uint32_t shares_of(double shares[EQUAL_SHARES + DECADE * DECADES])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < EQUAL_SHARES * 9 / 10; i++)
        shares[count++] = (double)i / EQUAL_SHARES;
    for (uint32_t i = DECADE; i <= DECADE * DECADES; i++)
        shares[count++] = 1 - pow(10, -(double)i / DECADE);
    shares[count++] = 1;
    return count;
}

static void pack_quantiles(struct view_calls *c, struct view_columns *columns)
{
    double shares[EQUAL_SHARES + DECADE * DECADES + 2];
    uint32_t count = shares_of(shares);
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(shares[i]));
    view_columns_set(columns, "shares", list);
    view_columns_begin(columns);
    for (uint32_t i = 0; i < shown(c); i++)
        for (uint32_t s = 0; s < count; s++)
            view_columns_put(columns, latency_values_at(&c->rows[i]->ticks, shares[s]));
    view_columns_end(columns, "quantiles");
}

static bool is_worst(const struct view_call_row *row, const struct view_dot *dot)
{
    for (uint32_t i = 0; i < row->worst_count; i++)
        if (row->worst[i].time == dot->time && row->worst[i].tid == dot->tid &&
            row->worst[i].value == dot->value && row->worst[i].ticks == dot->ticks)
            return true;
    return false;
}

static int by_time(const void *a, const void *b)
{
    const struct view_dot *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

/* Leaves those of the sample that are not among the longest. */
static void part(struct view_call_row *row)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < row->sampled_count; i++)
        if (!is_worst(row, &row->sampled[i]))
            row->sampled[kept++] = row->sampled[i];
    row->sampled_count = kept;
    if (kept != 0)
        qsort(row->sampled, kept, sizeof row->sampled[0], by_time);
    if (row->worst_count != 0)
        qsort(row->worst, row->worst_count, sizeof row->worst[0], by_time);
}

static uint64_t field(const struct view_dot *dot, uint32_t which)
{
    const uint64_t fields[] = {dot->time, dot->ticks, dot->value, dot->tid, dot->cpu};

    return which < 5 ? fields[which] : dot->spent[which - 5];
}

/* The dots of a row: the longest calls, then the sample. */
static void pack_dots(struct view_calls *c, struct view_columns *columns)
{
    static const char *const names[] = {"time", "ticks", "value", "tid", "cpu"};
    char name[32];

    for (uint32_t f = 0; f < DOT_COLUMNS; f++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < dotted(c); i++) {
            const struct view_call_row *row = c->rows[i];

            for (uint32_t n = 0; n < row->worst_count; n++)
                view_columns_put(columns, field(&row->worst[n], f));
            for (uint32_t n = 0; n < row->sampled_count; n++)
                view_columns_put(columns, field(&row->sampled[n], f));
        }
        snprintf(name, sizeof name, "spent.%u", f - 5);
        view_columns_end(columns, f < 5 ? names[f] : name);
    }
}

void view_calls_pack(struct view_calls *c, struct view_columns *columns)
{
    json_t *rows = json_array(), *words = json_array();

    for (uint32_t i = 0; i < shown(c); i++) {
        json_t *row = row_json(c->rows[i]);

        if (i < dotted(c)) {
            part(c->rows[i]);
            json_object_set_new(row, "worst", json_number(c->rows[i]->worst_count));
            json_object_set_new(row, "sampled", json_number(c->rows[i]->sampled_count));
        }
        json_array_append_new(rows, row);
    }
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        json_array_append_new(words, json_string(latency_waits_words[i]));
    view_columns_set(columns, "rows", rows);
    view_columns_set(columns, "all", json_number(c->count));
    view_columns_set(columns, "refused", json_number(c->refused));
    view_columns_set(columns, "spent_words", words);
    view_columns_set(columns, "arguments",
                     json_number(c->info != NULL ? c->info->points.meta.argument_count : 0));
    pack_quantiles(c, columns);
    pack_dots(c, columns);
}
