/* Reads the database of a sweep, which may have been changed by anybody. */
#include "host/sweep/database/sweep_data.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/base/array.h"
#include "host/sweep/database/sweep_merge.h"

struct loading {
    struct sweep_data *data;
    sqlite3 *db;
    const char *wrong; /* NULL: nothing so far */
};

static sqlite3_stmt *query(struct loading *l, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (l->wrong == NULL && sqlite3_prepare_v2(l->db, sql, -1, &statement, NULL) != SQLITE_OK)
        l->wrong = sqlite3_errcode(l->db) == SQLITE_NOTADB ? "it is no database"
                                                           : "it is no database of hr sweep";
    return statement;
}

static bool next(struct loading *l, sqlite3_stmt *statement)
{
    int code = l->wrong == NULL ? sqlite3_step(statement) : SQLITE_DONE;

    if (code != SQLITE_ROW && code != SQLITE_DONE)
        l->wrong = "it is damaged";
    return code == SQLITE_ROW;
}

static char *text_of(struct loading *l, sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    char *copy = strdup(text != NULL ? (const char *)text : "");

    if (copy == NULL)
        l->wrong = "it is too large for memory";
    return copy;
}

/* NULL: there is none. */
static char *find_fact(struct loading *l, const char *key)
{
    sqlite3_stmt *s = query(l, "SELECT value FROM facts WHERE key=?");
    char *value = NULL;

    if (s != NULL) {
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
        if (next(l, s))
            value = text_of(l, s, 0);
    }
    sqlite3_finalize(s);
    return value;
}

static char *fact(struct loading *l, const char *key)
{
    char *value = find_fact(l, key);

    if (value == NULL && l->wrong == NULL)
        l->wrong = "a fact is missing";
    return value;
}

static uint64_t number_fact(struct loading *l, const char *key)
{
    char *text = fact(l, key);
    uint64_t value = text != NULL ? strtoull(text, NULL, 10) : 0;

    free(text);
    return value;
}

static void load_parts(struct loading *l)
{
    struct sweep_data *d = l->data;
    sqlite3_stmt *s = query(l, "SELECT time_ns, from_instruction FROM parts ORDER BY part");

    while (next(l, s)) {
        if (d->bins == SWEEP_BINS_MAX || array_grow(&d->times, d->bins, sizeof d->times[0]) != 0 ||
            array_grow(&d->starts, d->bins, sizeof d->starts[0]) != 0) {
            l->wrong = "it has too many parts";
            break;
        }
        d->times[d->bins] = sqlite3_column_double(s, 0);
        d->starts[d->bins++] = sqlite3_column_double(s, 1);
    }
    sqlite3_finalize(s);
}

static void load_events(struct loading *l)
{
    struct sweep_data *d = l->data;
    sqlite3_stmt *s =
        query(l, "SELECT name, description, source, runs, mean, low, high, deviation, median, "
                 "outliers FROM events LEFT JOIN statistics USING(event) ORDER BY event");

    while (next(l, s)) {
        struct sweep_measured *e;

        if (d->event_count == SWEEP_EVENTS_MAX ||
            array_grow(&d->events, d->event_count, sizeof d->events[0]) != 0) {
            l->wrong = "it has too many events";
            break;
        }
        e = &d->events[d->event_count++];
        *e = (struct sweep_measured){
            .name = text_of(l, s, 0),
            .description = text_of(l, s, 1),
            .source = text_of(l, s, 2),
            .spread = {.count = (size_t)sqlite3_column_int64(s, 3),
                       .mean = sqlite3_column_double(s, 4),
                       .low = sqlite3_column_double(s, 5),
                       .high = sqlite3_column_double(s, 6),
                       .deviation = sqlite3_column_double(s, 7),
                       .median = sqlite3_column_double(s, 8),
                       .outliers = (size_t)sqlite3_column_int64(s, 9)},
            .series = calloc(d->bins + 1, sizeof e->series[0]),
        };
        if (e->series == NULL)
            l->wrong = "it is too large for memory";
    }
    sqlite3_finalize(s);
}

static void load_series(struct loading *l)
{
    struct sweep_data *d = l->data;
    sqlite3_stmt *s = query(l, "SELECT event, part, mean FROM series");

    while (next(l, s)) {
        sqlite3_int64 event = sqlite3_column_int64(s, 0), part = sqlite3_column_int64(s, 1);

        if (event < 0 || (size_t)event >= d->event_count || part < 0 || (size_t)part >= d->bins)
            l->wrong = "a series has an event or a part that is not there";
        else
            d->events[event].series[part] = sqlite3_column_double(s, 2);
    }
    sqlite3_finalize(s);
}

static void load_pairs(struct loading *l, const char *sql, struct sweep_note **list, size_t *count)
{
    sqlite3_stmt *s = query(l, sql);

    while (next(l, s)) {
        if (array_grow(list, *count, sizeof(*list)[0]) != 0) {
            l->wrong = "it is too large for memory";
            break;
        }
        (*list)[(*count)++] = (struct sweep_note){text_of(l, s, 0), text_of(l, s, 1)};
    }
    sqlite3_finalize(s);
}

static void load_notes(struct loading *l)
{
    struct sweep_data *d = l->data;
    sqlite3_stmt *s;

    load_pairs(l,
               "SELECT trace, CASE WHEN note<>'' THEN note ELSE 'it failed' END "
               "FROM runs WHERE note<>'' OR state='failed' ORDER BY plan, repetition",
               &d->notes, &d->note_count);
    load_pairs(l,
               "SELECT processor || ', ' || kernel, group_concat(host || ' (' || n || ')', ', ') "
               "FROM (SELECT host, count(*) AS n FROM runs WHERE state='done' GROUP BY host) "
               "JOIN hosts USING(host) GROUP BY 1",
               &d->machines, &d->machine_count);
    s = query(l, "SELECT count(*) FROM runs WHERE state='done'");
    if (next(l, s))
        d->runs = (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
}

int sweep_data_load(struct sweep_data *data, const char *folder, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];
    struct loading l = {.data = data};

    *data = (struct sweep_data){0};
    snprintf(path, sizeof path, "%s/" SWEEP_DATABASE, folder);
    if (sqlite3_open_v2(path, &l.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        l.wrong = "it cannot be opened";
    data->program = fact(&l, "program");
    data->processor = fact(&l, "processor");
    data->cpu = find_fact(&l, "cpu");
    data->repeat = number_fact(&l, "repeat");
    data->planned_runs = number_fact(&l, "planned_runs");
    data->least_runs = number_fact(&l, "least_runs");
    load_parts(&l);
    load_events(&l);
    load_series(&l);
    load_notes(&l);
    sqlite3_close(l.db);
    if (l.wrong == NULL && data->event_count == 0)
        l.wrong = "it has no events";
    if (l.wrong == NULL)
        return 0;
    sweep_data_free(data);
    return run_fail(failure,
                    "%s: %s; name the folder of a sweep that has ended ('hr sweep "
                    "--resume -o FOLDER' ends one)",
                    path, l.wrong);
}

static void free_pairs(struct sweep_note *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].trace);
        free(list[i].text);
    }
    free(list);
}

void sweep_data_free(struct sweep_data *data)
{
    for (size_t i = 0; i < data->event_count; i++) {
        free(data->events[i].name);
        free(data->events[i].description);
        free(data->events[i].source);
        free(data->events[i].series);
    }
    free_pairs(data->notes, data->note_count);
    free_pairs(data->machines, data->machine_count);
    free(data->events);
    free(data->times);
    free(data->starts);
    free(data->program);
    free(data->processor);
    free(data->cpu);
    *data = (struct sweep_data){0};
}

const struct sweep_measured *sweep_data_find(const struct sweep_data *data, const char *name)
{
    for (size_t i = 0; i < data->event_count; i++)
        if (strcasecmp(data->events[i].name, name) == 0)
            return &data->events[i];
    return NULL;
}

size_t sweep_whole_parts(const struct sweep_data *data)
{
    const double *axis = data->events[data->event_count - 1].series;
    size_t parts = data->bins;

    while (parts > 1 && axis[parts - 1] < 0.9 * axis[0])
        parts--;
    return parts;
}

/* Where samples lie differs a little from run to run, and with it how parts divide the counts. */
bool sweep_data_alike(const struct sweep_measured *a, const struct sweep_measured *b, size_t parts)
{
    return a->spread.mean == b->spread.mean &&
           trial_correlation(a->series, b->series, parts) > 0.999;
}
