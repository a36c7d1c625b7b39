/* Prints what goes with the duration of a function's invocations. */
#include <stdlib.h>

#include "host/base/text.h"
#include "host/latency/latency_print_detail.h"
#include "host/latency/latency_waits.h"

#define FEW 30u /* invocations, below which a correlation says little */

/* Writes a column's name; raw.  Returns its kind. */
static const char *name_factor(const struct latency_print *p, const struct latency_detail *d,
                               uint32_t column, char room[256])
{
    char word[64], *name;

    if (column == LATENCY_OWN) {
        snprintf(room, 256, "own time");
        return "time";
    }
    if (column < LATENCY_FIRST_CALLEE) {
        snprintf(room, 256, "%s", latency_waits_words[column - LATENCY_FIRST_SPENT]);
        return column == LATENCY_FIRST_SPENT ? "time" : "wait";
    }
    if (column < LATENCY_FIRST_EVENT) {
        name = latency_print_name(p, d->callees[column - LATENCY_FIRST_CALLEE]);
        snprintf(room, 256, "%s", name != NULL ? name : "");
        free(name);
        return "callee";
    }
    snprintf(room, 256, "%s", trace_info_event_word(p->info, column - LATENCY_FIRST_EVENT, word));
    return "event";
}

static bool is_time(uint32_t column)
{
    return column < LATENCY_FIRST_EVENT;
}

void latency_print_factors(FILE *out, const struct latency_print *p, const struct latency_detail *d)
{
    struct latency_factor factors[LATENCY_COLUMNS];
    int count = latency_detail_factors(d, factors);
    char name[256], shown[256], median[TEXT_QUANTITY_BYTES], calls[TEXT_QUANTITY_BYTES];
    char *function = latency_print_name(p, d->function);

    fprintf(out, "# %s: what goes with its duration, over %s of %s invocations\n",
            text_escape(shown, sizeof shown, function != NULL ? function : ""),
            text_count(name, d->sample_count), text_count(calls, d->calls));
    free(function);
    if (d->sample_count < FEW)
        fprintf(out, "# fewer than %u invocations: these figures may be chance\n", FEW);
    if (d->callees_cut)
        fprintf(out, "# more than %u callees: the others are not here\n", LATENCY_CALLEES_MAX);
    fprintf(out, "%6s %9s %12s  %-6s  %s\n", "ranks", "variance", "median", "kind", "factor");
    for (int i = 0; i < count; i++) {
        const struct latency_factor *f = &factors[i];
        const char *kind = name_factor(p, d, f->column, name);

        fprintf(out, "%6.3f %8.1f%% %12s  %-6s  %s\n", f->ranks, 100 * f->share,
                is_time(f->column) ? text_time(median, (double)trace_info_ns(p->info, f->median))
                                   : text_count(median, f->median),
                kind, text_escape(shown, sizeof shown, name));
    }
    fputs("# ranks: 1 if the longer invocation always has more of it, -1 if always less, near 0 if "
          "neither.\n# variance: how much of that of the duration a straight line through this "
          "factor alone explains.\n",
          out);
}

static uint64_t median_of(const struct latency_print *p, const struct latency_factor *f)
{
    return is_time(f->column) ? trace_info_ns(p->info, f->median) : f->median;
}

void latency_print_factors_csv(struct output *out, const struct latency_print *p,
                               const struct latency_detail *d)
{
    struct latency_factor factors[LATENCY_COLUMNS];
    int count = latency_detail_factors(d, factors);
    char name[256];

    output_text(out, "factor,kind,rank_correlation,variance_share,median,invocations\n");
    for (int i = 0; i < count; i++) {
        const struct latency_factor *f = &factors[i];
        const char *kind = name_factor(p, d, f->column, name);

        output_csv_print(out, "%s,%s,%g,%g,%lu,%u\n", name, kind, f->ranks, f->share,
                         median_of(p, f), d->sample_count);
    }
}

void latency_print_factors_json(struct output *out, const struct latency_print *p,
                                const struct latency_detail *d)
{
    struct latency_factor factors[LATENCY_COLUMNS];
    int count = latency_detail_factors(d, factors);
    char name[256], *function = latency_print_name(p, d->function);

    output_json_print(out,
                      "{\"function\": %s, \"calls\": %lu, \"invocations\": %u, \"few\": %d, "
                      "\"factors\": [",
                      function, d->calls, d->sample_count, d->sample_count < FEW);
    free(function);
    for (int i = 0; i < count; i++) {
        const struct latency_factor *f = &factors[i];
        const char *kind = name_factor(p, d, f->column, name);

        output_text(out, i != 0 ? ",\n " : "\n ");
        output_json_print(out,
                          "{\"factor\": %s, \"kind\": %s, \"rank_correlation\": %g, "
                          "\"variance_share\": %g, \"median\": %lu}",
                          name, kind, f->ranks, f->share, median_of(p, f));
    }
    output_text(out, "]}\n");
}
