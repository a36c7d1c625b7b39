/* hr sweep show: a row for each event. */
#include "host/sweep/show/sweep_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define NOTES_SHOWN 10u
#define LINES_SHOWN 8u /* of names */
#define NAME_COLUMNS 24 /* at least */
#define LINE_COLUMNS 96u

static const struct sweep_measured *axis(const struct sweep_data *d)
{
    return &d->events[d->event_count - 1];
}

double sweep_show_rate(const struct trial_spread *spread, double instructions)
{
    return instructions > 0 ? 1000 * spread->mean / instructions : 0;
}

int sweep_show_columns(const struct sweep_data *d)
{
    size_t widest = NAME_COLUMNS;
    char name[80];

    for (size_t i = 0; i < d->event_count; i++)
        if (sweep_data_counted(&d->events[i])) {
            size_t width = strlen(text_escape(name, sizeof name, d->events[i].name));

            widest = width > widest ? width : widest;
        }
    return (int)widest;
}

/* Machines with another processor or Linux than others are another line. */
static void print_machines(const struct sweep_data *d)
{
    char what[256], names[1024];

    for (size_t i = 0; i < d->machine_count; i++)
        printf("\n# runs on %s: %s", text_escape(names, sizeof names, d->machines[i].text),
               text_escape(what, sizeof what, d->machines[i].trace));
    if (d->machine_count > 1)
        printf("\n# these machines are not alike; 'hr diff --machine' of two traces says more");
}

void sweep_show_program(const struct sweep_data *d)
{
    char program[256], processor[128];

    printf("# %s, on %s\n", text_escape(program, sizeof program, d->program),
           text_escape(processor, sizeof processor, d->processor));
    printf("# %zu events in %" PRIu64 " runs (no plan has less than %" PRIu64 ")",
           d->event_count - 1, d->planned_runs, d->least_runs);
    if (d->repeat > 1)
        printf(", %" PRIu64 " times each", d->repeat);
    print_machines(d);
    printf("\n");
}

void sweep_show_titles(int columns)
{
    printf("%-*s %16s %10s %10s %10s\n", columns, "event", "mean", "interval", "deviation",
           "per 1000");
}

/* Half the interval as a share of the mean; nothing where there was one run. */
static const char *interval(const struct trial_spread *s, char room[32])
{
    if (s->count < 2)
        return "";
    snprintf(room, 32, "%.2f %%", s->mean != 0 ? 50 * (s->high - s->low) / s->mean : 0);
    return room;
}

static const char *deviation(const struct trial_spread *s, char room[32])
{
    if (s->count < 2)
        return "";
    snprintf(room, 32, "%.2f %%", 100 * s->deviation);
    return room;
}

void sweep_show_row(int columns, const struct sweep_measured *e, const struct trial_spread *s,
                    double instructions)
{
    char name[80], mean[TEXT_QUANTITY_BYTES], half[32], off[32], note[48] = "";
    bool stub = strcmp(e->source, "stub") == 0;

    if (s->outliers != 0)
        snprintf(note, sizeof note, "  %zu outlier%s", s->outliers, s->outliers == 1 ? "" : "s");
    printf("%-*s %16s %10s %10s %10.3f%s%s\n", columns, text_escape(name, sizeof name, e->name),
           text_count(mean, (uint64_t)(s->mean + 0.5)), interval(s, half), deviation(s, off),
           sweep_show_rate(s, instructions), note, stub ? "  (stub)" : "");
}

static bool is_listed(const struct sweep_measured *e, bool measured)
{
    return measured ? e->spread.count != 0 && e->spread.mean == 0 : e->spread.count == 0;
}

/* The names of events that are always 0, or are not measured, in lines. */
static void print_names(const struct sweep_data *d, bool measured, const char *what)
{
    size_t count = 0, column = 0, lines = 0, shown = 0;
    char name[80];

    for (size_t i = 0; i + 1 < d->event_count; i++)
        count += is_listed(&d->events[i], measured);
    if (count == 0)
        return;
    printf("\n# %s: %zu event%s", what, count, count == 1 ? "" : "s");
    for (size_t i = 0; i + 1 < d->event_count; i++) {
        if (!is_listed(&d->events[i], measured))
            continue;
        text_escape(name, sizeof name, d->events[i].name);
        if (column == 0 || column + strlen(name) > LINE_COLUMNS) {
            if (lines++ == LINES_SHOWN)
                break;
            printf("\n ");
            column = 1;
        }
        printf(" %s", name);
        column += strlen(name) + 1;
        shown++;
    }
    if (shown < count)
        printf("\n  and %zu more; --format csv lists them", count - shown);
    printf("\n");
}

static void print_tail(const struct sweep_data *d)
{
    char trace[256], text[256];

    print_names(d, true, "always 0");
    print_names(d, false, "not measured");
    if (d->note_count != 0)
        printf("\n# runs that failed or do not agree with the others: %zu\n", d->note_count);
    for (size_t i = 0; i < d->note_count && i < NOTES_SHOWN; i++)
        printf("  %s: %s\n", text_escape(trace, sizeof trace, d->notes[i].trace),
               text_escape(text, sizeof text, d->notes[i].text));
    if (d->note_count > NOTES_SHOWN)
        printf("  and %zu more, in the table runs of sweep.db\n", d->note_count - NOTES_SHOWN);
}

static void print_table(const struct sweep_data *d)
{
    int columns = sweep_show_columns(d);

    sweep_show_program(d);
    printf("\n");
    sweep_show_titles(columns);
    sweep_show_row(columns, axis(d), &axis(d)->spread, axis(d)->spread.mean);
    for (size_t i = 0; i + 1 < d->event_count; i++)
        if (sweep_data_counted(&d->events[i]))
            sweep_show_row(columns, &d->events[i], &d->events[i].spread, axis(d)->spread.mean);
    print_tail(d);
}

/* Counts are whole numbers: all their digits. */
void sweep_show_number(struct output *out, double value)
{
    char digits[32];

    snprintf(digits, sizeof digits, value == floor(value) ? "%.0f" : "%.9g", value);
    output_text(out, digits);
}

static const struct {
    const char *name;
    size_t offset;
} figures[] = {
    {"mean", offsetof(struct trial_spread, mean)},
    {"low", offsetof(struct trial_spread, low)},
    {"high", offsetof(struct trial_spread, high)},
    {"deviation", offsetof(struct trial_spread, deviation)},
    {"median", offsetof(struct trial_spread, median)},
};

static double figure(const struct trial_spread *s, size_t number)
{
    double value;

    memcpy(&value, (const char *)s + figures[number].offset, sizeof value);
    return value;
}

void sweep_show_csv(struct output *out, const struct sweep_measured *e,
                    const struct trial_spread *s, double instructions)
{
    output_csv_print(out, "%lu", (unsigned long)s->count);
    for (size_t v = 0; v < ARRAY_COUNT(figures); v++) {
        output_char(out, ',');
        sweep_show_number(out, figure(s, v));
    }
    output_csv_print(out, ",%lu,%g,%s\n", (unsigned long)s->outliers,
                     sweep_show_rate(s, instructions), e->source);
}

static void put_csv(struct output *out, const struct sweep_data *d)
{
    output_text(out, "event," SWEEP_SHOW_CSV);
    for (size_t i = 0; i < d->event_count; i++) {
        const struct sweep_measured *e = &d->events[i];

        output_csv_print(out, "%s,", e->name);
        sweep_show_csv(out, e, &e->spread, axis(d)->spread.mean);
    }
}

void sweep_show_json(struct output *out, const struct sweep_measured *e,
                     const struct trial_spread *s, double instructions)
{
    output_json_print(out, "\"name\":%s,\"description\":%s,\"source\":%s,\"runs\":%lu", e->name,
                      e->description, e->source, (unsigned long)s->count);
    for (size_t v = 0; v < ARRAY_COUNT(figures); v++) {
        output_text(out, ",\"");
        output_text(out, figures[v].name);
        output_text(out, "\":");
        sweep_show_number(out, figure(s, v));
    }
    output_json_print(out, ",\"outliers\":%lu,\"per_1000\":%g", (unsigned long)s->outliers,
                      sweep_show_rate(s, instructions));
}

static void put_json(struct output *out, const struct sweep_data *d)
{
    output_json_print(out,
                      "{\"program\":%s,\"processor\":%s,\"planned_runs\":%lu,"
                      "\"least_runs\":%lu,\"runs\":%lu,\"events\":[",
                      d->program, d->processor, d->planned_runs, d->least_runs, d->runs);
    for (size_t i = 0; i < d->event_count; i++) {
        const struct sweep_measured *e = &d->events[i];

        output_text(out, i != 0 ? ",\n{" : "\n{");
        sweep_show_json(out, e, &e->spread, axis(d)->spread.mean);
        output_char(out, '}');
    }
    output_text(out, "\n],\"notes\":[");
    for (size_t i = 0; i < d->note_count; i++)
        output_json_print(out,
                          i != 0 ? ",{\"trace\":%s,\"note\":%s}" : "{\"trace\":%s,\"note\":%s}",
                          d->notes[i].trace, d->notes[i].text);
    output_text(out, "],\"machines\":[");
    for (size_t i = 0; i < d->machine_count; i++)
        output_json_print(out, i != 0 ? ",{\"is\":%s,\"runs\":%s}" : "{\"is\":%s,\"runs\":%s}",
                          d->machines[i].trace, d->machines[i].text);
    output_text(out, "]}\n");
}

int sweep_show(const struct sweep_data *data, enum sweep_format format)
{
    struct output *out;

    if (format == SWEEP_TABLE) {
        print_table(data);
        return fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
    }
    out = reader_output_open();
    (format == SWEEP_CSV ? put_csv : put_json)(out, data);
    return reader_output_close(out);
}
