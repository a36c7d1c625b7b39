/* hr sweep show --by: what the events counted in phases, functions or parts of the program. */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/draw/sparkline.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/show/sweep_show.h"

#define BARS_MIN 16u
#define BARS_MAX 1000u /* as sparkline_columns() */
#define TABLE_LIMIT 10u

struct part {
    char *name; /* owned, as is all here */
    char *of; /* a function's object, or a phase's kind */
    double place; /* passes of a phase, or the first instruction of a bin */
    double time_ns; /* of a bin */
    struct trial_spread *spreads; /* one for each event; count 0: there is none */
};

/* The part that is read; each is shown when it is complete. */
struct showing {
    const struct sweep_data *data;
    enum sweep_by by;
    enum sweep_format format;
    size_t limit;
    struct output *out; /* of csv and json */
    int columns;
    size_t count; /* of parts so far */
    struct part part;
    double *values; /* of the event that is read; owned */
    size_t value_count;
    size_t event;
    const char *wrong; /* NULL: nothing so far */
};

static const struct {
    const char
        *sql; /* name, what it is of, passes, event, value: a part's rows follow each other */
    const char *csv;
    const char *word;
    const char *order;
} kinds[] = {
    [SWEEP_BY_PHASE] =
        {"SELECT name, kind, passes, event, total FROM phases JOIN (SELECT kind, name, min(rowid) "
         "AS first FROM phases GROUP BY kind, name) USING (kind, name) ORDER BY first, event, run",
         "phase,kind,passes,event," SWEEP_SHOW_CSV, "phase", "sections between marks, and regions"},
    [SWEEP_BY_FUNCTION] =
        {"SELECT function, object, 0, event, mean FROM functions JOIN (SELECT function, object, "
         "sum(mean * (event = (SELECT max(event) FROM events))) AS axis FROM functions "
         "GROUP BY function, object) USING (function, object) "
         "ORDER BY axis DESC, function, object, event",
         "function,object,event,mean,per_1000,source\n", "function", "most instructions first"},
    [SWEEP_BY_BIN] = {NULL, "part,from_instruction,time_ns,event,mean,per_1000,source\n", "bin",
                      ""},
};

static double instructions(const struct showing *s)
{
    return s->part.spreads[s->data->event_count - 1].mean;
}

static bool is_shown(const struct showing *s)
{
    return s->limit == 0 || s->count < s->limit;
}

static void print_head(const struct showing *s)
{
    sweep_show_program(s->data);
    printf("# by %s: %s\n\n", kinds[s->by].word, kinds[s->by].order);
    sweep_show_titles(s->columns);
}

static void print_part(const struct showing *s)
{
    const struct sweep_data *d = s->data;
    const struct part *p = &s->part;
    char name[256], of[256], number[TEXT_QUANTITY_BYTES];

    if (s->count == 0)
        print_head(s);
    printf("\n%s", text_escape(name, sizeof name, p->name));
    if (s->by == SWEEP_BY_FUNCTION && p->of[0] != 0)
        printf(" (%s)", text_escape(of, sizeof of, p->of));
    if (s->by == SWEEP_BY_PHASE)
        printf(" (%s, %s pass%s)", text_escape(of, sizeof of, p->of),
               text_count(number, (uint64_t)p->place), p->place != 1 ? "es" : "");
    printf("\n");
    for (size_t i = 0; i < d->event_count; i++) {
        size_t e = i == 0 ? d->event_count - 1 : i - 1; /* the axis comes first */

        if (p->spreads[e].count != 0 && p->spreads[e].mean != 0)
            sweep_show_row(s->columns, &d->events[e], &p->spreads[e], instructions(s));
    }
}

static void put_place_csv(const struct showing *s)
{
    const struct part *p = &s->part;

    if (s->by == SWEEP_BY_BIN)
        output_csv_print(s->out, "%lu,%lu,%g,", s->count, (uint64_t)p->place, p->time_ns);
    else if (s->by == SWEEP_BY_PHASE)
        output_csv_print(s->out, "%s,%s,%lu,", p->name, p->of, (uint64_t)p->place);
    else
        output_csv_print(s->out, "%s,%s,", p->name, p->of);
}

static void put_csv(const struct showing *s)
{
    for (size_t e = 0; e < s->data->event_count; e++) {
        const struct sweep_measured *event = &s->data->events[e];
        const struct trial_spread *spread = &s->part.spreads[e];

        if (spread->count == 0)
            continue;
        put_place_csv(s);
        output_csv_print(s->out, "%s,", event->name);
        if (s->by == SWEEP_BY_PHASE) {
            sweep_show_csv(s->out, event, spread, instructions(s));
            continue;
        }
        sweep_show_number(s->out, spread->mean);
        output_csv_print(s->out, ",%g,%s\n", sweep_show_rate(spread, instructions(s)),
                         event->source);
    }
}

static void put_json(const struct showing *s)
{
    const struct part *p = &s->part;
    bool first = true;

    output_text(s->out, s->count != 0 ? ",\n{" : "\n{");
    if (s->by == SWEEP_BY_BIN)
        output_json_print(s->out, "\"part\":%lu,\"from_instruction\":%lu,\"time_ns\":%g", s->count,
                          (uint64_t)p->place, p->time_ns);
    else if (s->by == SWEEP_BY_PHASE)
        output_json_print(s->out, "\"phase\":%s,\"kind\":%s,\"passes\":%lu", p->name, p->of,
                          (uint64_t)p->place);
    else
        output_json_print(s->out, "\"function\":%s,\"object\":%s", p->name, p->of);
    output_text(s->out, ",\"events\":[");
    for (size_t e = 0; e < s->data->event_count; e++) {
        const struct sweep_measured *event = &s->data->events[e];
        const struct trial_spread *spread = &p->spreads[e];

        if (spread->count == 0)
            continue;
        output_text(s->out, first ? "{" : ",{");
        first = false;
        if (s->by == SWEEP_BY_PHASE) {
            sweep_show_json(s->out, event, spread, instructions(s));
        } else {
            output_json_print(s->out, "\"name\":%s,\"mean\":", event->name);
            sweep_show_number(s->out, spread->mean);
            output_json_print(s->out, ",\"per_1000\":%g", sweep_show_rate(spread, instructions(s)));
        }
        output_char(s->out, '}');
    }
    output_text(s->out, "]}");
}

static void end_event(struct showing *s)
{
    if (s->value_count != 0)
        trial_spread_of(s->values, s->value_count, &s->part.spreads[s->event]);
    s->value_count = 0;
}

static void end_part(struct showing *s)
{
    end_event(s);
    if (is_shown(s)) {
        if (s->format == SWEEP_TABLE)
            print_part(s);
        else if (s->format == SWEEP_CSV)
            put_csv(s);
        else
            put_json(s);
    }
    s->count++;
    memset(s->part.spreads, 0, s->data->event_count * sizeof s->part.spreads[0]);
}

static void begin_part(struct showing *s, const char *name, const char *of)
{
    if (s->part.name != NULL)
        end_part(s);
    free(s->part.name);
    free(s->part.of);
    s->part.name = strdup(name);
    s->part.of = strdup(of);
    if (s->part.name == NULL || s->part.of == NULL)
        s->wrong = "it is too large for memory";
}

/* A whole number of the database, which anybody may have changed. */
static double within(double value)
{
    return value > 0 && value < 1e18 ? value : 0;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);

    return text != NULL ? (const char *)text : "";
}

static void take_row(struct showing *s, sqlite3_stmt *row)
{
    const char *name = text_of(row, 0), *of = text_of(row, 1);
    sqlite3_int64 event = sqlite3_column_int64(row, 3);

    if (event < 0 || (size_t)event >= s->data->event_count) {
        s->wrong = "it has an event that is not there";
        return;
    }
    if (s->part.name == NULL || strcmp(s->part.name, name) != 0 || strcmp(s->part.of, of) != 0)
        begin_part(s, name, of);
    else if ((size_t)event != s->event)
        end_event(s);
    if (s->wrong == NULL && array_grow(&s->values, s->value_count, sizeof s->values[0]) != 0)
        s->wrong = "it is too large for memory";
    if (s->wrong != NULL)
        return;
    s->part.place = within(sqlite3_column_double(row, 2));
    s->event = (size_t)event;
    s->values[s->value_count++] = sqlite3_column_double(row, 4);
}

/* A database of an older hr has no phases. */
static void read_rows(struct showing *s, const char *folder)
{
    char path[SWEEP_PATH_BYTES];
    sqlite3_stmt *rows = NULL;
    sqlite3 *db;
    int code = SQLITE_DONE;

    snprintf(path, sizeof path, "%s/" SWEEP_DATABASE, folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, kinds[s->by].sql, -1, &rows, NULL) != SQLITE_OK)
        s->wrong = "it has no such table";
    while (s->wrong == NULL && (code = sqlite3_step(rows)) == SQLITE_ROW)
        take_row(s, rows);
    if (s->wrong == NULL && code != SQLITE_DONE)
        s->wrong = "it is damaged";
    sqlite3_finalize(rows);
    sqlite3_close(db);
    if (s->wrong == NULL && s->part.name != NULL)
        end_part(s);
}

static void show_bins(struct showing *s)
{
    const struct sweep_data *d = s->data;

    for (size_t bin = 0; bin < d->bins; bin++) {
        s->part.place = within(d->starts[bin]);
        s->part.time_ns = d->times[bin];
        for (size_t e = 0; e < d->event_count; e++)
            s->part.spreads[e] = (struct trial_spread){.count = d->events[e].spread.count,
                                                       .mean = d->events[e].series[bin]};
        end_part(s);
    }
}

static double rate(double count, double of)
{
    return of > 0 ? 1000 * count / of : 0;
}

/* The rates from begin to end; where there are more parts than bars, a bar has several. */
static void print_bars(const double *series, const double *axis, size_t parts, size_t bars)
{
    double counts[BARS_MAX] = {0}, of[BARS_MAX] = {0}, most = 0;

    bars = bars < parts ? bars : parts;
    for (size_t part = 0; part < parts; part++) {
        counts[part * bars / parts] += series[part];
        of[part * bars / parts] += axis[part];
    }
    for (size_t i = 0; i < bars; i++)
        most = fmax(most, rate(counts[i], of[i]));
    for (size_t i = 0; i < bars; i++)
        fputs(sparkline_bar(most > 0 ? rate(counts[i], of[i]) / most : 0), stdout);
    printf("\n");
}

static void print_along(const struct sweep_data *d, const struct sweep_measured *e, int columns,
                        size_t bars)
{
    const double *axis = d->events[d->event_count - 1].series;
    size_t parts = sweep_whole_parts(d);
    double least = parts != 0 ? INFINITY : 0, most = 0;
    char name[80];

    for (size_t part = 0; part < parts; part++) {
        least = fmin(least, rate(e->series[part], axis[part]));
        most = fmax(most, rate(e->series[part], axis[part]));
    }
    printf("%-*s %10.3f %10.3f %10.3f ", columns, text_escape(name, sizeof name, e->name),
           sweep_show_rate(&e->spread, d->events[d->event_count - 1].spread.mean), least, most);
    print_bars(e->series, axis, parts, bars);
}

static void print_bins(const struct showing *s)
{
    const struct sweep_data *d = s->data;
    unsigned width = sparkline_columns(), used = (unsigned)s->columns + 34;

    sweep_show_program(d);
    printf("# %zu parts of the program, counts in 1,000 instructions\n\n", sweep_whole_parts(d));
    printf("%-*s %10s %10s %10s from begin to end\n", s->columns, "event", "per 1000", "least",
           "most");
    for (size_t i = 0; i + 1 < d->event_count; i++)
        if (sweep_data_counted(&d->events[i]))
            print_along(d, &d->events[i], s->columns,
                        width > used + BARS_MIN ? width - used : BARS_MIN);
}

static void begin(struct showing *s)
{
    if (s->format == SWEEP_CSV)
        output_text(s->out, kinds[s->by].csv);
    else if (s->format == SWEEP_JSON)
        output_json_print(s->out, "{\"by\":%s,\"parts\":[", kinds[s->by].word);
}

static int end(struct showing *s)
{
    if (s->format == SWEEP_JSON)
        output_text(s->out, "\n]}\n");
    if (s->format != SWEEP_TABLE)
        return reader_output_close(s->out);
    if (s->by == SWEEP_BY_PHASE && s->count == 0 && s->wrong == NULL)
        printf("# the program names no phases: hr_region_begin() and hr_region_end(), or "
               "hr_mark(), of libhr do\n");
    else if (s->by != SWEEP_BY_BIN && !is_shown(s) && s->count > s->limit)
        printf("\n# %zu more; --limit 0 shows all\n", s->count - s->limit);
    return fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}

static void show(struct showing *s, const char *folder)
{
    if (s->by == SWEEP_BY_BIN && s->format == SWEEP_TABLE) {
        print_bins(s);
        return;
    }
    begin(s);
    if (s->by == SWEEP_BY_BIN)
        show_bins(s);
    else
        read_rows(s, folder);
}

int sweep_by_show(const struct sweep_data *data, const char *folder, enum sweep_by by,
                  enum sweep_format format, size_t limit)
{
    struct showing s = {.data = data, .by = by, .format = format};
    int status = HR_EXIT_OK;

    s.limit = limit == READER_LIMIT_UNSET ? (format == SWEEP_TABLE ? TABLE_LIMIT : 0) : limit;
    s.columns = sweep_show_columns(data);
    s.part.spreads = calloc(data->event_count, sizeof s.part.spreads[0]);
    s.out = reader_output_open();
    if (s.part.spreads == NULL) {
        status = error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    } else {
        show(&s, folder);
        status = end(&s);
        if (s.wrong != NULL)
            status = error_exit(HR_EXIT_FAILED,
                                "%s/" SWEEP_DATABASE
                                ": %s; 'hr sweep --resume -o %s' makes it of the traces again",
                                folder, s.wrong, folder);
    }
    free(s.part.spreads);
    free(s.part.name);
    free(s.part.of);
    free(s.values);
    return status;
}
