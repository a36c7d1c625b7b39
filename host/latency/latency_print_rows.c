/* Writes distributions of invocations as rows for other programs. */
#include <stdlib.h>

#include "host/latency/latency_print.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"

static const struct {
    const char *name;
    double share;
} shares[] = {{"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};

#define SHARES (sizeof shares / sizeof shares[0])

static const char *key_name(enum latency_by by)
{
    static const char *const names[] = {"", "caller", "tid", "pid"};

    return names[by];
}

static const char *file_of(const struct latency_print *p, uint32_t function)
{
    return function < p->info->points.meta.function_count ? p->info->points.functions[function].path
                                                          : NULL;
}

static uint64_t ns(const struct latency_print *p, uint64_t ticks)
{
    return trace_info_ns(p->info, ticks);
}

static void csv_key(struct output *out, const struct latency_print *p,
                    const struct latency_row *row)
{
    char *name = latency_print_name(p, row->function);

    output_csv_print(out, "%s,%s", name, file_of(p, row->function));
    free(name);
    if (p->rows->by == LATENCY_BY_CALLER) {
        name = row->key != TRACE_POINTS_NONE ? latency_print_name(p, row->key) : NULL;
        output_csv_print(out, ",%s", name);
        free(name);
    } else if (p->rows->by != LATENCY_BY_FUNCTION) {
        output_csv_print(out, ",%u", row->key);
    }
}

static void csv_duration(struct output *out, const struct latency_print *p, struct latency_row *row)
{
    csv_key(out, p, row);
    output_text(out, ",duration_ns");
    output_csv_print(out, ",%lu,%lu,%lu", row->ticks.count, row->left, row->unknown);
    for (uint32_t i = 0; i < SHARES; i++)
        output_csv_print(out, ",%lu", ns(p, latency_values_at(&row->ticks, shares[i].share)));
    output_csv_print(out, ",%lu,%lu,%lu", ns(p, row->ticks.largest), ns(p, row->ticks.sum),
                     ns(p, row->own));
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_csv_print(out, ",%lu", ns(p, row->spent[i]));
    output_char(out, '\n');
}

static void csv_event(struct output *out, const struct latency_print *p, struct latency_row *row,
                      uint32_t event)
{
    struct latency_values *values = &row->counters[event];
    char column[TRACE_INFO_COLUMN_BYTES];

    csv_key(out, p, row);
    output_csv_print(out, ",%s", trace_info_event_column(p->info, event, column));
    output_csv_print(out, ",%lu,%lu,%lu", values->count, row->left, row->unknown);
    for (uint32_t i = 0; i < SHARES; i++)
        output_csv_print(out, ",%lu", latency_values_at(values, shares[i].share));
    output_csv_print(out, ",%lu,%lu", values->largest, values->sum);
    for (uint32_t i = 0; i < LATENCY_SPENT + 1; i++)
        output_char(out, ',');
    output_char(out, '\n');
}

void latency_print_csv(struct output *out, const struct latency_print *p)
{
    output_text(out, "function,file");
    if (p->rows->by != LATENCY_BY_FUNCTION)
        output_csv_print(out, ",%s", key_name(p->rows->by));
    output_text(out, ",of,calls,left,unknown,median,p90,p99,p999,max,total,own");
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_csv_print(out, ",%s", latency_waits_names[i]);
    output_char(out, '\n');
    for (uint32_t i = 0; i < p->limit; i++) {
        struct latency_row *row = p->rows->all[i];

        csv_duration(out, p, row);
        for (uint32_t e = 0; row->counters != NULL && e < p->rows->event_count; e++)
            csv_event(out, p, row, e);
    }
}

static void json_key(struct output *out, const struct latency_print *p,
                     const struct latency_row *row)
{
    char *name = latency_print_name(p, row->function);

    output_json_print(out, "{\"function\": %s, \"file\": %s", name, file_of(p, row->function));
    free(name);
    if (p->rows->by == LATENCY_BY_CALLER) {
        name = row->key != TRACE_POINTS_NONE ? latency_print_name(p, row->key) : NULL;
        output_json_print(out, ", \"caller\": %s", name);
        free(name);
    } else if (p->rows->by != LATENCY_BY_FUNCTION) {
        output_json_print(out, ", %s: %u", key_name(p->rows->by), row->key);
    }
}

static void json_events(struct output *out, const struct latency_print *p, struct latency_row *row)
{
    char room[16];

    output_text(out, ", \"counters\": [");
    for (uint32_t e = 0; e < p->rows->event_count; e++) {
        struct latency_values *values = &row->counters[e];

        output_text(out, e != 0 ? ", " : "");
        output_json_print(out, "{\"event\": %s", trace_info_event_name(p->info, e, room));
        for (uint32_t i = 0; i < SHARES; i++) {
            output_json_print(out, ", %s: %lu", shares[i].name,
                              latency_values_at(values, shares[i].share));
        }
        output_json_print(out, ", \"max\": %lu, \"total\": %lu}", values->largest, values->sum);
    }
    output_char(out, ']');
}

static void json_row(struct output *out, const struct latency_print *p, struct latency_row *row)
{
    json_key(out, p, row);
    output_json_print(out, ", \"calls\": %lu, \"left\": %lu, \"unknown\": %lu, \"exact\": %d",
                      row->ticks.count, row->left, row->unknown, latency_values_exact(&row->ticks));
    for (uint32_t i = 0; i < SHARES; i++) {
        output_text(out, ", \"");
        output_text(out, shares[i].name);
        output_json_print(out, "_ns\": %lu",
                          ns(p, latency_values_at(&row->ticks, shares[i].share)));
    }
    output_json_print(out, ", \"max_ns\": %lu, \"total_ns\": %lu, \"own_ns\": %lu, \"spent_ns\": {",
                      ns(p, row->ticks.largest), ns(p, row->ticks.sum), ns(p, row->own));
    for (uint32_t i = 0; i < LATENCY_SPENT; i++) {
        output_text(out, i != 0 ? ", " : "");
        output_json_print(out, "%s: %lu", latency_waits_names[i], ns(p, row->spent[i]));
    }
    output_char(out, '}');
    if (row->counters != NULL)
        json_events(out, p, row);
    for (uint32_t i = 0; i < p->tails->count; i++)
        if (p->tails->rows[i].row == row) {
            output_text(out, ", \"tail\": ");
            latency_print_tail_json(out, p, &p->tails->rows[i].tail);
        }
    output_char(out, '}');
}

void latency_print_json(struct output *out, const struct latency_print *p)
{
    const struct latency_threads *t = p->threads;

    output_json_print(out,
                      "{\"virtual_time\": %d, \"hits\": %lu, \"places_reached\": %lu, "
                      "\"strays\": %lu, \"too_deep\": %lu, \"unused\": %lu, \"rows\": [",
                      p->info->clock.method == HR_CLOCK_VIRTUAL, t->hits, t->reached, t->strays,
                      t->deep, t->unknown + t->refused + p->rows->refused);
    for (uint32_t i = 0; i < p->limit; i++) {
        output_text(out, i != 0 ? ",\n " : "\n ");
        json_row(out, p, p->rows->all[i]);
    }
    output_text(out, "]}\n");
}
