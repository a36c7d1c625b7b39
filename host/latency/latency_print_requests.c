/* Prints the distribution of requests. */
#include "host/latency/latency_print_requests.h"

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"

static const struct {
    const char *name;
    double share;
} shares[] = {{"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};

#define SHARES (sizeof shares / sizeof shares[0])

static uint64_t ns(const struct latency_print *p, uint64_t ticks)
{
    return trace_info_ns(p->info, ticks);
}

static void print_row(FILE *out, const struct latency_print *p, struct latency_requests *r)
{
    static const char *const titles[] = {"median", "p90", "p99", "p99.9", "max", "total"};
    const uint64_t last[] = {r->ticks.largest, r->ticks.sum};
    char text[TEXT_QUANTITY_BYTES], spent[256];

    fprintf(out, "# %7s", "requests");
    for (uint32_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        fprintf(out, " %9s", titles[i]);
    fprintf(out, "  their threads' time\n%10s", text_count(text, r->ticks.count));
    for (uint32_t i = 0; i < SHARES; i++)
        fprintf(out, " %9s",
                text_time(text, (double)ns(p, latency_values_at(&r->ticks, shares[i].share))));
    for (uint32_t i = 0; i < 2; i++)
        fprintf(out, " %9s", text_time(text, (double)ns(p, last[i])));
    latency_print_spent(spent, sizeof spent, r->spent, r->queued);
    fprintf(out, "  %s\n", spent);
}

static void note(FILE *out, const struct latency_print *p, uint64_t count, const char *one,
                 const char *many)
{
    char text[TEXT_QUANTITY_BYTES];

    if (count == 1)
        columns_note(out, p->columns, "1 %s", one);
    else if (count != 0)
        columns_note(out, p->columns, "%s %s", text_count(text, count), many);
}

static void print_notes(FILE *out, const struct latency_print *p, const struct latency_requests *r)
{
    note(out, p, r->unended, "request began and did not end; it is not counted",
         "requests began and did not end; they are not counted");
    note(out, p, r->unknown, "request was open where records are missing; it is not counted",
         "requests were open where records are missing; they are not counted");
    note(out, p, r->strays, "end has no begin in what was read",
         "ends have no begin in what was read");
    note(out, p, r->stray_joins, "join is of a request that was not open",
         "joins are of requests that were not open");
    note(out, p, r->refused, "request found no room, and is not counted",
         "requests found no room, and are not counted");
    if (!latency_values_exact(&r->ticks))
        columns_note(out, p->columns, "percentiles are rounded by up to 0.1 %%");
}

void latency_print_requests(FILE *out, const struct latency_print *p, struct latency_requests *r)
{
    print_row(out, p, r);
    latency_print_tail(out, p, &r->tail, TRACE_POINTS_NONE, "requests", "request");
    print_notes(out, p, r);
}

void latency_print_requests_csv(struct output *out, const struct latency_print *p,
                                struct latency_requests *r)
{
    output_text(out, "requests,unended,unknown,strays,median,p90,p99,p999,max,total");
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_csv_print(out, ",%s", latency_waits_names[i]);
    output_text(out, ",queued\n");
    output_csv_print(out, "%lu,%lu,%lu,%lu", r->ticks.count, r->unended, r->unknown, r->strays);
    for (uint32_t i = 0; i < SHARES; i++)
        output_csv_print(out, ",%lu", ns(p, latency_values_at(&r->ticks, shares[i].share)));
    output_csv_print(out, ",%lu,%lu", ns(p, r->ticks.largest), ns(p, r->ticks.sum));
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_csv_print(out, ",%lu", ns(p, r->spent[i]));
    output_csv_print(out, ",%lu\n", ns(p, r->queued));
}

void latency_print_requests_json(struct output *out, const struct latency_print *p,
                                 struct latency_requests *r)
{
    output_json_print(out,
                      "{\"requests\": %lu, \"unended\": %lu, \"unknown\": %lu, \"strays\": %lu, "
                      "\"stray_joins\": %lu, \"refused\": %lu, \"exact\": %d",
                      r->ticks.count, r->unended, r->unknown, r->strays, r->stray_joins, r->refused,
                      latency_values_exact(&r->ticks));
    for (uint32_t i = 0; i < SHARES; i++) {
        output_text(out, ", \"");
        output_text(out, shares[i].name);
        output_json_print(out, "_ns\": %lu", ns(p, latency_values_at(&r->ticks, shares[i].share)));
    }
    output_json_print(out, ", \"max_ns\": %lu, \"total_ns\": %lu, \"spent_ns\": {",
                      ns(p, r->ticks.largest), ns(p, r->ticks.sum));
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_json_print(out, "%s: %lu, ", latency_waits_names[i], ns(p, r->spent[i]));
    output_json_print(out, "\"queued\": %lu}, \"tail\": ", ns(p, r->queued));
    latency_print_tail_json(out, p, &r->tail);
    output_text(out, "}\n");
}
