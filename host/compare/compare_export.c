/* The differences as CSV and JSON, for other programs. */
#include <math.h>
#include <stdio.h>

#include "host/compare/compare_print.h"

struct put { /* one format */
    struct output *out;
    bool json;
    bool next; /* not the first row */
};

/* What has no end is empty, or null; whole numbers have all their digits. */
static void put_number(const struct put *p, const char *name, double value)
{
    char text[400];

    if (!isfinite(value))
        snprintf(text, sizeof text, "%s", p->json ? "null" : "");
    else
        snprintf(text, sizeof text, value == floor(value) ? "%.0f" : "%.9g", value);
    if (p->json)
        output_json_print(p->out, ",%s:", name);
    else
        output_char(p->out, ',');
    output_text(p->out, text);
}

static void put_row(struct put *p, const char *kind, const char *event, const char *name,
                    const char *object, const struct trial_difference *d)
{
    if (p->json)
        output_text(p->out, p->next ? ",\n" : "\n");
    p->next = true;
    (p->json ? output_json_print : output_csv_print)(
        p->out, p->json ? "{\"kind\":%s,\"event\":%s,\"name\":%s,\"object\":%s" : "%s,%s,%s,%s",
        kind, event, name, object);
    put_number(p, "before", d->means[0]);
    put_number(p, "after", d->means[1]);
    put_number(p, "change", d->change);
    put_number(p, "low", d->low);
    put_number(p, "high", d->high);
    put_number(p, "least", d->least);
    put_number(p, "runs_for_1_percent",
               isinf(d->least) ? INFINITY : (double)trial_difference_runs(d, COMPARE_SHARE));
    output_text(p->out, p->json ? "}" : "\n");
}

/* Totals, then the functions that changed; times are in ns. */
static void put_rows(struct put *p, const struct compare *c, const struct compare_shown *shown)
{
    const struct compare_functions *all = &c->functions;

    for (uint32_t i = 0; i < shown->count; i++)
        put_row(p, "total", shown->rows[i].time ? "time_ns" : shown->rows[i].name, "", "",
                &shown->rows[i].difference);
    for (size_t i = 0; i < all->count && (shown->limit == 0 || i < shown->limit); i++)
        if (all->all[i].difference.change != 0)
            put_row(p, "function", all->event, all->all[i].name, all->all[i].object,
                    &all->all[i].difference);
}

void compare_print_csv(struct output *out, const struct compare *c,
                       const struct compare_shown *shown)
{
    struct put p = {.out = out};

    output_text(out,
                "kind,event,name,object,before,after,change,low,high,least,runs_for_1_percent\n");
    put_rows(&p, c, shown);
}

void compare_print_json(struct output *out, const struct compare *c,
                        const struct compare_shown *shown)
{
    char words[COMPARE_WORDS_BYTES];
    struct put p = {.out = out, .json = true};

    output_json_print(out, "{\"exact\":%d,\"runs\":%u,\"statuses\":[%u,%u],\"not_the_same\":%s,",
                      c->exact, c->done, (unsigned)c->runs[0][0].status,
                      (unsigned)c->runs[1][0].status, compare_disagreement(c, words));
    output_json_print(out, "\"length_difference\":%lu,\"changes\":[", compare_length_difference(c));
    put_rows(&p, c, shown);
    output_text(out, "\n]}\n");
}
