/* Compares the runs of a sweep, and writes the tables of its database. */
#include "host/sweep/database/sweep_store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_info.h"
#include "host/trial/trial_statistics.h"
#include "include/version.h"

#define TOLERANCE 0.01 /* instructions of runs on a processor; those of virtual time are equal */

static const char schema[] =
    "PRAGMA application_id=0x4d63746d;"
    "CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE events(event INTEGER PRIMARY KEY, name TEXT, description TEXT, source TEXT);"
    "CREATE TABLE runs(run INTEGER PRIMARY KEY, plan INTEGER, repetition INTEGER, state TEXT,"
    " status INTEGER, output_bytes INTEGER, output_crc32c INTEGER, instructions INTEGER,"
    " duration_ns INTEGER, note TEXT, trace TEXT, host TEXT);"
    "CREATE TABLE hosts(host TEXT, kernel TEXT, processor TEXT);"
    "CREATE TABLE counts(run INTEGER, event INTEGER, total INTEGER, PRIMARY KEY(event, run))"
    " WITHOUT ROWID;"
    "CREATE TABLE series(event INTEGER, part INTEGER, mean REAL, PRIMARY KEY(event, part))"
    " WITHOUT ROWID;"
    "CREATE TABLE parts(part INTEGER PRIMARY KEY, from_instruction INTEGER, time_ns REAL);"
    "CREATE TABLE functions(function TEXT, object TEXT, event INTEGER, mean REAL);"
    "CREATE TABLE phases(run INTEGER, kind TEXT, name TEXT, passes INTEGER, event INTEGER,"
    " total INTEGER);"
    "CREATE TABLE statistics(event INTEGER PRIMARY KEY, runs INTEGER, mean REAL, low REAL,"
    " high REAL, deviation REAL, median REAL, outliers INTEGER);";

void sweep_store_begin(struct merge *m)
{
    database_run(&m->db, schema);
}

static double median_instructions(const struct merge *m)
{
    const struct merged_event *e = &m->events[sweep_axis(m)];
    double *values = malloc((e->runs + 1) * sizeof values[0]);
    struct trial_spread spread = {0};

    if (values != NULL) {
        memcpy(values, e->values, e->runs * sizeof values[0]);
        trial_spread_of(values, e->runs, &spread);
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
        snprintf(run->note, SWEEP_NOTE_BYTES, "it ended with status %d, the first run with %d",
                 job->status, first->status);
    else if (off > (run->exact ? 0 : TOLERANCE * median))
        snprintf(run->note, SWEEP_NOTE_BYTES, "it has %.0f instructions, the median is %.0f",
                 run->instructions, median);
    else if (job->output.bytes != first->output.bytes || job->output.crc32c != first->output.crc32c)
        snprintf(run->note, SWEEP_NOTE_BYTES, "its output is not that of the first run");
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
    put_fact(m, "cpu", m->cpu);
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
    sqlite3_stmt *put =
        database_prepare(&m->db, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    double median = median_instructions(m);
    char path[SWEEP_PATH_BYTES];

    for (size_t i = 0; i < m->sweep->job_count; i++) {
        const struct sweep_job *job = &m->sweep->jobs[i];
        struct merged_run *run = &m->runs[i];

        compare(m, job, run, median);
        result->unread += job->state == SWEEP_DONE && !run->read;
        result->differ += run->read && run->note[0] != 0;
        if (put != NULL)
            sqlite3_bind_int(put, 5, job->status);
        sweep_job_path(m->sweep, job, SWEEP_TRACE, path);
        database_row(&m->db, put, "%lu,%u,%u,%s,=,%lu,%u,%lu,%lu,%s,%s,%s", i, job->run + 1,
                     job->repetition + 1, states[job->state], job->output.bytes, job->output.crc32c,
                     (uint64_t)run->instructions, run->duration_ns, run->note,
                     path + strlen(m->sweep->folder) + 1, sweep_job_host(m->sweep, job));
    }
    sqlite3_finalize(put);
}

static void put_hosts(struct merge *m)
{
    sqlite3_stmt *put = database_prepare(&m->db, "INSERT INTO hosts VALUES (?,?,?)");

    const struct remote_machines *machines = &m->sweep->machines;

    for (size_t i = 0; i < machines->count; i++)
        database_row(&m->db, put, "%s,%s,%s", machines->list[i].name, machines->list[i].kernel,
                     machines->list[i].processor);
    sqlite3_finalize(put);
}

static void put_statistics(struct merge *m, uint32_t number, sqlite3_stmt *put)
{
    struct trial_spread s;

    trial_spread_of(m->events[number].values, m->events[number].runs, &s);
    database_bind_real(put, 3, s.mean);
    database_bind_real(put, 4, s.low);
    database_bind_real(put, 5, s.high);
    database_bind_real(put, 6, s.deviation);
    database_bind_real(put, 7, s.median);
    database_row(&m->db, put, "%u,%lu,=,=,=,=,=,%lu", number, s.count, s.outliers);
}

static void put_events(struct merge *m)
{
    sqlite3_stmt *event = database_prepare(&m->db, "INSERT INTO events VALUES (?,?,?,?)");
    sqlite3_stmt *series = database_prepare(&m->db, "INSERT INTO series VALUES (?,?,?)");
    sqlite3_stmt *statistics =
        database_prepare(&m->db, "INSERT INTO statistics VALUES (?,?,?,?,?,?,?,?)");

    for (uint32_t e = 0; e < sweep_event_total(m); e++) {
        const struct sweep_event *known = &m->sweep->plan.events[e];
        const struct merged_event *found = &m->events[e];

        database_row(&m->db, event, "%u,%s,%s,%s", e, e == sweep_axis(m) ? SWEEP_AXIS : known->name,
                     e == sweep_axis(m) ? "what every run counts: the axis" : known->description,
                     trace_info_source(found->source));
        if (found->runs == 0)
            continue;
        for (uint32_t bin = 0; bin < m->bins; bin++) {
            database_bind_real(series, 3, found->series[bin] / (double)found->runs);
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
        database_bind_real(put, 3, m->time_runs != 0 ? m->times[bin] / (double)m->time_runs : 0);
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

    database_bind_real(rows->put, 4,
                       sum / (double)(m->events[event].runs + (m->events[event].runs == 0)));
    database_row(&m->db, rows->put, "%s,%s,%u,=", function, object, event);
}

static void put_functions(struct merge *m)
{
    struct function_rows rows = {
        m, database_prepare(&m->db, "INSERT INTO functions VALUES (?,?,?,?)")};

    sweep_functions_each(m->functions, put_function, &rows);
    sqlite3_finalize(rows.put);
}

struct phase_rows {
    struct merge *merge;
    size_t run;
    uint32_t event_count;
    const uint32_t *numbers;
};

static void put_section(void *context, const char *name, uint64_t passes, const uint64_t *sums)
{
    const struct phase_rows *r = context;

    for (uint32_t e = 0; e < r->event_count; e++)
        database_row(&r->merge->db, r->merge->put_phase, "%lu,%s,%s,%lu,%u,%lu", r->run, "section",
                     name, passes, r->numbers[e], sums[e]);
}

static void put_region(const struct phase_rows *r, const struct trace_region *region)
{
    for (uint32_t e = 0; e < r->event_count; e++)
        if (region->figures[e].passes != 0)
            database_row(&r->merge->db, r->merge->put_phase, "%lu,%s,%s,%lu,%u,%lu", r->run,
                         "region", region->name, region->figures[e].passes, r->numbers[e],
                         region->figures[e].sum);
}

void sweep_store_phases(struct merge *m, size_t run, const struct sweep_trace *trace,
                        const struct sweep_profile *profile, const uint32_t *numbers)
{
    struct phase_rows rows = {m, run, trace->event_count, numbers};

    sweep_profile_sections(profile, put_section, &rows);
    for (size_t i = 0; i < trace->regions.count; i++)
        put_region(&rows, &trace->regions.all[i]);
}

void sweep_store(struct merge *m, struct sweep_result *result)
{
    put_facts(m);
    put_runs(m, result);
    put_hosts(m);
    put_parts(m);
    put_events(m);
    put_functions(m);
}
