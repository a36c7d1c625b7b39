/* Reads the traces of a sweep, adds them up along the axis, and writes the database. */
#include "host/sweep/sweep_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/progress_bar.h"
#include "host/base/text.h"
#include "host/export/database.h"
#include "host/sweep/sweep_functions.h"
#include "host/sweep/sweep_read.h"
#include "host/sweep/sweep_statistics.h"
#include "host/trace/trace_info.h"
#include "include/version.h"

#define TOLERANCE 0.01 /* instructions of runs on a processor; those of virtual time are equal */
#define NOTE_BYTES 200

struct merged_run {
    bool read;
    bool exact;
    double instructions;
    uint64_t duration_ns;
    char note[NOTE_BYTES]; /* why it does not agree with the others; "": it does */
};

struct merged_event { /* the axis is the one after the last of the plan */
    double *series; /* sums over the runs, for each part; owned */
    double *values; /* the totals of its runs; owned */
    size_t runs;
    uint8_t source; /* enum hr_source */
};

struct merge {
    const struct sweep *sweep;
    size_t bins;
    double width; /* instructions of a part */
    struct merged_run *runs; /* one for each job; owned */
    struct merged_event *events; /* owned */
    double *times; /* ns of each part, sums over all runs; owned */
    size_t time_runs;
    struct sweep_functions *functions;
    struct database db;
    sqlite3_stmt *put_count;
};

static const char schema[] =
    "PRAGMA application_id=0x4d63746d;"
    "CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE events(event INTEGER PRIMARY KEY, name TEXT, description TEXT, source TEXT);"
    "CREATE TABLE runs(run INTEGER PRIMARY KEY, plan INTEGER, repetition INTEGER, state TEXT,"
    " status INTEGER, output_bytes INTEGER, output_crc32c INTEGER, instructions INTEGER,"
    " duration_ns INTEGER, note TEXT, trace TEXT);"
    "CREATE TABLE counts(run INTEGER, event INTEGER, total INTEGER, PRIMARY KEY(event, run))"
    " WITHOUT ROWID;"
    "CREATE TABLE series(event INTEGER, part INTEGER, mean REAL, PRIMARY KEY(event, part))"
    " WITHOUT ROWID;"
    "CREATE TABLE parts(part INTEGER PRIMARY KEY, from_instruction INTEGER, time_ns REAL);"
    "CREATE TABLE functions(function TEXT, object TEXT, event INTEGER, mean REAL);"
    "CREATE TABLE statistics(event INTEGER PRIMARY KEY, runs INTEGER, mean REAL, low REAL,"
    " high REAL, deviation REAL, median REAL, outliers INTEGER);";

static size_t event_total(const struct merge *m)
{
    return m->sweep->plan.event_count + 1;
}

static uint32_t axis(const struct merge *m)
{
    return (uint32_t)m->sweep->plan.event_count;
}

static int make_room(struct merge *m)
{
    size_t repetitions = m->sweep->job_count + 1;

    m->runs = calloc(m->sweep->job_count + 1, sizeof m->runs[0]);
    m->events = calloc(event_total(m), sizeof m->events[0]);
    m->times = calloc(m->bins, sizeof m->times[0]);
    m->functions = sweep_functions_make(event_total(m));
    if (m->runs == NULL || m->events == NULL || m->times == NULL || m->functions == NULL)
        return -ENOMEM;
    for (size_t e = 0; e < event_total(m); e++) {
        /* an event is in one run of the plan, and once more where that was divided */
        size_t values = e == axis(m) ? repetitions : 2 * m->sweep->repeat;

        m->events[e].series = calloc(m->bins, sizeof m->events[e].series[0]);
        m->events[e].values = calloc(values, sizeof m->events[e].values[0]);
        if (m->events[e].series == NULL || m->events[e].values == NULL)
            return -ENOMEM;
    }
    return 0;
}

static void free_room(struct merge *m)
{
    for (size_t e = 0; m->events != NULL && e < event_total(m); e++) {
        free(m->events[e].series);
        free(m->events[e].values);
    }
    free(m->events);
    free(m->runs);
    free(m->times);
    sweep_functions_free(m->functions);
}

/* The sweep's number of each event of a run's traces. */
static uint32_t event_numbers(const struct merge *m, const struct sweep_job *job,
                              uint32_t numbers[HR_EVENTS_MAX])
{
    const struct sweep_run *run = &m->sweep->plan.runs[job->run];

    numbers[0] = axis(m);
    for (uint32_t i = 0; i < run->count; i++)
        numbers[i + 1] = run->events[i];
    return run->count + 1;
}

static void add_trace(struct merge *m, size_t number, const struct sweep_trace *trace,
                      const uint32_t *numbers)
{
    for (uint32_t i = 0; i < trace->event_count; i++) {
        struct merged_event *e = &m->events[numbers[i]];

        for (size_t bin = 0; bin < m->bins; bin++)
            e->series[bin] += sweep_trace_bin(trace, bin)[i];
        if (numbers[i] == axis(m) || e->runs < 2 * m->sweep->repeat)
            e->values[e->runs++] = (double)trace->totals[i];
        e->source = trace->sources[i];
        database_row(&m->db, m->put_count, "%lu,%u,%lu", number, numbers[i], trace->totals[i]);
    }
    for (size_t bin = 0; bin < m->bins; bin++)
        m->times[bin] += sweep_trace_bin(trace, bin)[trace->event_count];
    m->time_runs++;
}

/* Returns 0, or -ENOMEM; another failure is the run's note. */
static int take(struct merge *m, size_t number)
{
    const struct sweep_job *job = &m->sweep->jobs[number];
    struct merged_run *run = &m->runs[number];
    char path[SWEEP_PATH_BYTES];
    uint32_t numbers[HR_EVENTS_MAX], count = event_numbers(m, job, numbers);
    struct sweep_trace trace;
    int error = sweep_trace_read(&trace, sweep_job_path(m->sweep, job, SWEEP_TRACE, path), m->width,
                                 m->bins);

    if (error == 0 && trace.event_count != count)
        error = -EBADMSG;
    if (error == 0) {
        run->read = true;
        run->exact = trace.exact;
        run->instructions = (double)trace.totals[0];
        run->duration_ns = trace.duration_ns;
        add_trace(m, number, &trace, numbers);
        error = sweep_functions_add(m->functions, path, numbers, count);
    }
    if (error != 0)
        snprintf(run->note, NOTE_BYTES, "its trace cannot be read: %s", strerror(-error));
    sweep_trace_free(&trace);
    return error == -ENOMEM ? error : 0;
}

/* The parts are those of the first run, with a little more for runs that are longer. */
static int find_width(struct merge *m, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];
    struct sweep_trace trace;
    int error = sweep_trace_read(
        &trace, sweep_job_path(m->sweep, &m->sweep->first, SWEEP_TRACE, path), 1, 1);

    if (error != 0)
        return run_fail(failure, "cannot read '%s': %s", path, strerror(-error));
    m->width = ceil((double)trace.totals[0] / (double)m->bins);
    sweep_trace_free(&trace);
    return 0;
}

static double median_instructions(const struct merge *m)
{
    const struct merged_event *e = &m->events[axis(m)];
    double *values = malloc((e->runs + 1) * sizeof values[0]);
    struct sweep_spread spread = {0};

    if (values != NULL) {
        memcpy(values, e->values, e->runs * sizeof values[0]);
        sweep_spread_of(values, e->runs, &spread);
    }
    free(values);
    return spread.median;
}

static void compare(const struct merge *m, const struct sweep_job *job, struct merged_run *run,
                    double median)
{
    const struct sweep_job *first = &m->sweep->first;
    double off = fabs(run->instructions - median);

    if (!run->read)
        return;
    if (job->status != first->status)
        snprintf(run->note, NOTE_BYTES, "it ended with status %d, the first run with %d",
                 job->status, first->status);
    else if (off > (run->exact ? 0 : TOLERANCE * median))
        snprintf(run->note, NOTE_BYTES, "it has %.0f instructions, the median is %.0f",
                 run->instructions, median);
    else if (job->output.bytes != first->output.bytes || job->output.crc32c != first->output.crc32c)
        snprintf(run->note, NOTE_BYTES, "its output is not that of the first run");
}

static void put_fact(struct merge *m, const char *key, const char *value)
{
    sqlite3_stmt *put = database_prepare(&m->db, "INSERT INTO facts VALUES (?,?)");

    database_row(&m->db, put, "%s,%s", key, value);
    sqlite3_finalize(put);
}

static void put_facts(struct merge *m)
{
    char text[8192] = "";
    size_t used = 0;

    for (size_t i = 0; i < m->sweep->program_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i != 0 ? " " : "",
                                 m->sweep->program[i]);
    put_fact(m, "program", text);
    put_fact(m, "processor", m->sweep->plan.machine.processor);
    put_fact(m, "hr.version", VERSION_TEXT);
    snprintf(text, sizeof text, "%" PRIu64, m->sweep->repeat);
    put_fact(m, "repeat", text);
    snprintf(text, sizeof text, "%zu", m->sweep->plan.run_count);
    put_fact(m, "planned_runs", text);
    snprintf(text, sizeof text, "%zu", m->sweep->plan.least);
    put_fact(m, "least_runs", text);
}

static void put_runs(struct merge *m, struct sweep_result *result)
{
    static const char *const states[] = {"waits", "done", "failed"};
    sqlite3_stmt *put = database_prepare(&m->db, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    double median = median_instructions(m);
    char path[SWEEP_PATH_BYTES];

    for (size_t i = 0; i < m->sweep->job_count; i++) {
        const struct sweep_job *job = &m->sweep->jobs[i];
        struct merged_run *run = &m->runs[i];

        compare(m, job, run, median);
        result->merged += run->read;
        result->unread += job->state == SWEEP_DONE && !run->read;
        result->differ += run->read && run->note[0] != 0;
        if (put != NULL)
            sqlite3_bind_int(put, 5, job->status);
        sweep_job_path(m->sweep, job, SWEEP_TRACE, path);
        database_row(&m->db, put, "%lu,%u,%u,%s,=,%lu,%u,%lu,%lu,%s,%s", i, job->run + 1,
                     job->repetition + 1, states[job->state], job->output.bytes, job->output.crc32c,
                     (uint64_t)run->instructions, run->duration_ns, run->note,
                     path + strlen(m->sweep->folder) + 1);
    }
    sqlite3_finalize(put);
}

static void bind_real(sqlite3_stmt *statement, int parameter, double value)
{
    if (statement != NULL)
        sqlite3_bind_double(statement, parameter, value);
}

static void put_statistics(struct merge *m, uint32_t number, sqlite3_stmt *put)
{
    struct sweep_spread s;

    sweep_spread_of(m->events[number].values, m->events[number].runs, &s);
    bind_real(put, 3, s.mean);
    bind_real(put, 4, s.low);
    bind_real(put, 5, s.high);
    bind_real(put, 6, s.deviation);
    bind_real(put, 7, s.median);
    database_row(&m->db, put, "%u,%lu,=,=,=,=,=,%lu", number, s.count, s.outliers);
}

static void put_events(struct merge *m)
{
    sqlite3_stmt *event = database_prepare(&m->db, "INSERT INTO events VALUES (?,?,?,?)");
    sqlite3_stmt *series = database_prepare(&m->db, "INSERT INTO series VALUES (?,?,?)");
    sqlite3_stmt *statistics =
        database_prepare(&m->db, "INSERT INTO statistics VALUES (?,?,?,?,?,?,?,?)");

    for (uint32_t e = 0; e < event_total(m); e++) {
        const struct sweep_event *known = &m->sweep->plan.events[e];
        const struct merged_event *found = &m->events[e];

        database_row(&m->db, event, "%u,%s,%s,%s", e, e == axis(m) ? SWEEP_AXIS : known->name,
                     e == axis(m) ? "what every run counts: the axis" : known->description,
                     trace_info_source(found->source));
        if (found->runs == 0)
            continue;
        for (uint32_t bin = 0; bin < m->bins; bin++) {
            bind_real(series, 3, found->series[bin] / (double)found->runs);
            database_row(&m->db, series, "%u,%u,=", e, bin);
        }
        put_statistics(m, e, statistics);
    }
    sqlite3_finalize(event);
    sqlite3_finalize(series);
    sqlite3_finalize(statistics);
}

static void put_parts(struct merge *m)
{
    sqlite3_stmt *put = database_prepare(&m->db, "INSERT INTO parts VALUES (?,?,?)");

    for (uint32_t bin = 0; bin < m->bins; bin++) {
        bind_real(put, 3, m->time_runs != 0 ? m->times[bin] / (double)m->time_runs : 0);
        database_row(&m->db, put, "%u,%lu,=", bin, (uint64_t)(bin * m->width));
    }
    sqlite3_finalize(put);
}

struct function_rows {
    struct merge *merge;
    sqlite3_stmt *put;
};

static void put_function(void *context, const char *function, const char *object, uint32_t event,
                         double sum)
{
    struct function_rows *rows = context;
    struct merge *m = rows->merge;

    bind_real(rows->put, 4, sum / (double)(m->events[event].runs + (m->events[event].runs == 0)));
    database_row(&m->db, rows->put, "%s,%s,%u,=", function, object, event);
}

static void put_functions(struct merge *m)
{
    struct function_rows rows = {
        m, database_prepare(&m->db, "INSERT INTO functions VALUES (?,?,?,?)")};

    sweep_functions_each(m->functions, put_function, &rows);
    sqlite3_finalize(rows.put);
}

static int take_all(struct merge *m)
{
    struct progress_bar bar;
    int error = 0;

    progress_bar_init(&bar, true);
    progress_bar_begin(&bar, m->sweep->job_count);
    for (size_t i = 0; i < m->sweep->job_count && error == 0; i++) {
        if (m->sweep->jobs[i].state == SWEEP_DONE)
            error = take(m, i);
        progress_bar_add(&bar, 1);
    }
    progress_bar_end(&bar);
    return error;
}

static int write_all(struct merge *m, const char *path, struct sweep_result *result)
{
    int error;

    unlink(path);
    database_open(&m->db, path);
    database_run(&m->db, schema);
    m->put_count = database_prepare(&m->db, "INSERT OR IGNORE INTO counts VALUES (?,?,?)");
    error = take_all(m);
    sqlite3_finalize(m->put_count);
    put_facts(m);
    put_runs(m, result);
    put_parts(m);
    put_events(m);
    put_functions(m);
    if (database_close(&m->db) != 0 && error == 0)
        error = m->db.error;
    return error;
}

int sweep_merge(const struct sweep *sweep, size_t bins, struct sweep_result *result,
                struct run_failure *failure)
{
    struct merge m = {.sweep = sweep, .bins = bins};
    char path[SWEEP_PATH_BYTES], partial[SWEEP_PATH_BYTES];
    int error;

    *result = (struct sweep_result){0};
    sweep_path(sweep, SWEEP_DATABASE, path);
    sweep_path(sweep, SWEEP_DATABASE ".part", partial);
    if (find_width(&m, failure) != 0)
        return -1;
    error = make_room(&m);
    if (error == 0)
        error = write_all(&m, partial, result);
    free_room(&m);
    if (error == 0 && rename(partial, path) != 0)
        error = -errno;
    if (error == 0)
        return 0;
    unlink(partial);
    return run_fail(failure, "cannot write '%s': %s", path, strerror(-error));
}
