/* hr sweep show: a row for each event. */
#include "host/sweep/sweep_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/output.h"
#include "host/base/text.h"

#define NOTES_SHOWN 10u
#define NAME_COLUMNS 40

static const struct sweep_measured *axis(const struct sweep_data *d)
{
    return &d->events[d->event_count - 1];
}

/* Of 1,000 instructions. */
static double per_thousand(const struct sweep_data *d, const struct sweep_measured *e)
{
    double instructions = axis(d)->spread.mean;

    return instructions > 0 ? 1000 * e->spread.mean / instructions : 0;
}

static void print_head(const struct sweep_data *d)
{
    char program[256], processor[128];

    printf("# %s, on %s\n", text_escape(program, sizeof program, d->program),
           text_escape(processor, sizeof processor, d->processor));
    printf("# %zu events in %" PRIu64 " runs (no plan has less than %" PRIu64 "), %" PRIu64
           " measured with repetitions\n\n",
           d->event_count - 1, d->planned_runs, d->least_runs, d->runs);
    printf("%-*s %20s %10s %10s %9s\n", NAME_COLUMNS, "event", "mean", "interval", "deviation",
           "per 1000");
}

/* Half the interval as a share of the mean; nothing where there was one run. */
static const char *interval(const struct sweep_spread *s, char room[32])
{
    if (s->count < 2)
        return "";
    snprintf(room, 32, "%.2f %%", s->mean != 0 ? 50 * (s->high - s->low) / s->mean : 0);
    return room;
}

static const char *deviation(const struct sweep_spread *s, char room[32])
{
    if (s->count < 2)
        return "";
    snprintf(room, 32, "%.2f %%", 100 * s->deviation);
    return room;
}

static void print_row(const struct sweep_data *d, const struct sweep_measured *e)
{
    char name[80], mean[TEXT_QUANTITY_BYTES], half[32], off[32], note[48] = "";
    bool stub = strcmp(e->source, "stub") == 0;

    if (e->spread.outliers != 0)
        snprintf(note, sizeof note, "  %zu outlier%s", e->spread.outliers,
                 e->spread.outliers == 1 ? "" : "s");
    printf("%-*s %20s %10s %10s %9.3f%s%s\n", NAME_COLUMNS, text_escape(name, sizeof name, e->name),
           text_count(mean, (uint64_t)(e->spread.mean + 0.5)), interval(&e->spread, half),
           deviation(&e->spread, off), per_thousand(d, e), note, stub ? "  (stub)" : "");
}

/* Names after each other, in lines. */
static void print_names(const struct sweep_data *d, bool counted)
{
    char name[80];
    size_t used = 0;

    for (size_t i = 0; i + 1 < d->event_count; i++) {
        const struct sweep_measured *e = &d->events[i];

        if (counted ? e->spread.count != 0 : e->spread.count == 0 || e->spread.mean != 0)
            continue;
        text_escape(name, sizeof name, e->name);
        if (used != 0 && used + strlen(name) > 96) {
            printf("\n");
            used = 0;
        }
        printf("%s%s", used != 0 ? " " : "  ", name);
        used += strlen(name) + 1;
    }
    printf("\n");
}

static void print_tail(const struct sweep_data *d)
{
    size_t zero = 0, missing = 0;
    char trace[256], text[256];

    for (size_t i = 0; i + 1 < d->event_count; i++) {
        missing += d->events[i].spread.count == 0;
        zero += d->events[i].spread.count != 0 && d->events[i].spread.mean == 0;
    }
    if (zero != 0) {
        printf("\n# always 0: %zu events\n", zero);
        print_names(d, false);
    }
    if (missing != 0) {
        printf("\n# not measured: %zu events\n", missing);
        print_names(d, true);
    }
    if (d->note_count != 0)
        printf("\n# runs that do not agree with the others: %zu\n", d->note_count);
    for (size_t i = 0; i < d->note_count && i < NOTES_SHOWN; i++)
        printf("  %s: %s\n", text_escape(trace, sizeof trace, d->notes[i].trace),
               text_escape(text, sizeof text, d->notes[i].text));
    if (d->note_count > NOTES_SHOWN)
        printf("  and %zu more, in the table runs of sweep.db\n", d->note_count - NOTES_SHOWN);
}

static void print_table(const struct sweep_data *d)
{
    print_head(d);
    print_row(d, axis(d));
    for (size_t i = 0; i + 1 < d->event_count; i++)
        if (sweep_data_counted(&d->events[i]))
            print_row(d, &d->events[i]);
    print_tail(d);
}

static void put_csv(struct output *out, const struct sweep_data *d)
{
    output_text(out, "event,runs,mean,low,high,deviation,median,outliers,per_1000,source\n");
    for (size_t i = 0; i < d->event_count; i++) {
        const struct sweep_measured *e = &d->events[i];
        const struct sweep_spread *s = &e->spread;

        output_csv_print(out, "%s,%lu,%g,%g,%g,%g,%g,%lu,%g,%s\n", e->name, (unsigned long)s->count,
                         s->mean, s->low, s->high, s->deviation, s->median,
                         (unsigned long)s->outliers, per_thousand(d, e), e->source);
    }
}

static void put_json(struct output *out, const struct sweep_data *d)
{
    output_json_print(out,
                      "{\"program\":%s,\"processor\":%s,\"planned_runs\":%lu,"
                      "\"least_runs\":%lu,\"runs\":%lu,\"events\":[",
                      d->program, d->processor, d->planned_runs, d->least_runs, d->runs);
    for (size_t i = 0; i < d->event_count; i++) {
        const struct sweep_measured *e = &d->events[i];
        const struct sweep_spread *s = &e->spread;

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"name\":%s,\"description\":%s,\"source\":%s,\"runs\":%lu,\"mean\":%g,"
                          "\"low\":%g,\"high\":%g,\"deviation\":%g,\"median\":%g,\"outliers\":%lu,"
                          "\"per_1000\":%g}",
                          e->name, e->description, e->source, (unsigned long)s->count, s->mean,
                          s->low, s->high, s->deviation, s->median, (unsigned long)s->outliers,
                          per_thousand(d, e));
    }
    output_text(out, "\n],\"notes\":[");
    for (size_t i = 0; i < d->note_count; i++)
        output_json_print(out,
                          i != 0 ? ",{\"trace\":%s,\"note\":%s}" : "{\"trace\":%s,\"note\":%s}",
                          d->notes[i].trace, d->notes[i].text);
    output_text(out, "]}\n");
}

int sweep_show(const struct sweep_data *data, enum sweep_format format)
{
    struct output *out;
    int error;

    if (format == SWEEP_TABLE) {
        print_table(data);
        return fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
    }
    out = malloc(sizeof *out);
    if (out == NULL)
        return error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    output_init(out, STDOUT_FILENO);
    if (format == SWEEP_CSV)
        put_csv(out, data);
    else
        put_json(out, data);
    error = output_flush(out);
    free(out);
    return error == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}
