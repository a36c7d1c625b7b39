/* Reads the traces of a sweep, adds them up along the axis, and writes the database. */
#include "host/sweep/database/sweep_merge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/scan/trace_parallel.h"
#include "host/sweep/database/sweep_read.h"
#include "host/sweep/database/sweep_store.h"

/* Every run counts the axis; an event is in one run of the plan, and in one more where that was
 * divided. */
static size_t values_of(const struct merge *m, uint32_t event)
{
    return event == sweep_axis(m) ? m->sweep->job_count : 2 * m->sweep->repeat;
}

static int make_room(struct merge *m)
{
    m->runs = calloc(m->sweep->job_count + 1, sizeof m->runs[0]);
    m->events = calloc(sweep_event_total(m), sizeof m->events[0]);
    m->times = calloc(m->bins, sizeof m->times[0]);
    m->functions = sweep_functions_make(sweep_event_total(m));
    if (m->runs == NULL || m->events == NULL || m->times == NULL || m->functions == NULL)
        return -ENOMEM;
    for (uint32_t e = 0; e < sweep_event_total(m); e++) {
        m->events[e].series = calloc(m->bins, sizeof m->events[e].series[0]);
        m->events[e].values = calloc(values_of(m, e) + 1, sizeof m->events[e].values[0]);
        if (m->events[e].series == NULL || m->events[e].values == NULL)
            return -ENOMEM;
    }
    return 0;
}

static void free_room(struct merge *m)
{
    for (size_t e = 0; m->events != NULL && e < sweep_event_total(m); e++) {
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

    numbers[0] = sweep_axis(m);
    for (uint32_t i = 0; i < run->count; i++)
        numbers[i + 1] = run->events[i];
    return run->count + 1;
}

static void add_trace(struct merge *m, size_t number, const struct sweep_trace *trace,
                      const uint32_t *numbers)
{
    for (uint32_t i = 0; i < trace->event_count; i++) {
        struct merged_event *e = &m->events[numbers[i]];

        if (e->runs == values_of(m, numbers[i])) /* no plan of hr sweep counts it so often */
            continue;
        for (size_t bin = 0; bin < m->bins; bin++)
            e->series[bin] += sweep_trace_bin(trace, bin)[i];
        e->values[e->runs++] = (double)trace->totals[i];
        e->source = trace->sources[i];
        database_row(&m->db, m->put_count, "%lu,%u,%lu", number, numbers[i], trace->totals[i]);
    }
    for (size_t bin = 0; bin < m->bins; bin++)
        m->times[bin] += sweep_trace_bin(trace, bin)[trace->event_count];
    m->time_runs++;
}

struct read_job {
    struct sweep_trace trace;
    struct sweep_profile *profile;
    int error;
};

static bool is_same_machine(const struct merge *m, const struct read_job *read)
{
    return strcmp(read->trace.machine, m->machine) == 0;
}

static void read_job(const struct merge *m, const struct sweep_job *job, struct read_job *read)
{
    char path[SWEEP_PATH_BYTES];

    *read = (struct read_job){0};
    if (job->state != SWEEP_DONE)
        return;
    sweep_job_path(m->sweep, job, SWEEP_TRACE, path);
    read->error = sweep_trace_read(&read->trace, path, m->width, m->bins);
    if (read->error != 0 || !is_same_machine(m, read))
        return;
    if (read->trace.event_count != m->sweep->plan.runs[job->run].count + 1)
        read->error = -EBADMSG;
    if (read->error == 0)
        read->error = sweep_profile_read(&read->profile, path, &read->trace.marks);
}

/* Returns 0, or -ENOMEM; another failure is the run's note. */
static int add_job(struct merge *m, size_t number, struct read_job *read)
{
    const struct sweep_job *job = &m->sweep->jobs[number];
    struct merged_run *run = &m->runs[number];
    uint32_t numbers[HR_EVENTS_MAX], count = event_numbers(m, job, numbers);

    if (job->state != SWEEP_DONE)
        return 0;
    if (read->error != 0) {
        snprintf(run->note, SWEEP_NOTE_BYTES, "its trace cannot be read: %s",
                 strerror(-read->error));
        return read->error == -ENOMEM ? -ENOMEM : 0;
    }
    if (!is_same_machine(m, read)) {
        snprintf(run->note, SWEEP_NOTE_BYTES, "left out: it ran on another processor: %.150s",
                 read->trace.machine);
        return 0;
    }
    run->read = true;
    run->exact = read->trace.exact;
    run->instructions = (double)read->trace.totals[0];
    run->duration_ns = read->trace.duration_ns;
    add_trace(m, number, &read->trace, numbers);
    sweep_store_phases(m, number, &read->trace, read->profile, numbers);
    return sweep_functions_add(m->functions, read->profile, numbers, count);
}

static void *work(void *context)
{
    struct merge *m = context;
    struct read_job read;

    pthread_mutex_lock(&m->lock);
    while (m->next < m->sweep->job_count && m->error == 0) {
        size_t number = m->next++;

        pthread_mutex_unlock(&m->lock);
        read_job(m, &m->sweep->jobs[number], &read);
        pthread_mutex_lock(&m->lock);
        while (m->turn != number && m->error == 0)
            pthread_cond_wait(&m->turned, &m->lock);
        if (m->error == 0)
            m->error = add_job(m, number, &read);
        m->turn++;
        pthread_cond_broadcast(&m->turned);
        sweep_profile_free(read.profile);
        sweep_trace_free(&read.trace);
        progress_bar_add(&m->bar, 1);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static int take_all(struct merge *m)
{
    pthread_t threads[TRACE_PARALLEL_JOBS_MAX];
    unsigned int wanted = trace_parallel_jobs(0, UINT64_MAX) - 1, count = 0;

    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->turned, NULL);
    progress_bar_init(&m->bar, true);
    progress_bar_begin(&m->bar, m->sweep->job_count);
    while (count < wanted && pthread_create(&threads[count], NULL, work, m) == 0)
        count++;
    work(m);
    for (unsigned int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    progress_bar_end(&m->bar);
    pthread_cond_destroy(&m->turned);
    pthread_mutex_destroy(&m->lock);
    return m->error;
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
    snprintf(m->cpu, sizeof m->cpu, "%s", trace.cpu);
    m->width = ceil((double)trace.totals[0] / (double)m->bins);
    memcpy(m->machine, trace.machine, sizeof m->machine);
    sweep_trace_free(&trace);
    return 0;
}

static int write_all(struct merge *m, const char *path, struct sweep_result *result)
{
    int error;

    unlink(path);
    database_open(&m->db, path);
    sweep_store_begin(m);
    m->put_count = database_prepare(&m->db, "INSERT OR IGNORE INTO counts VALUES (?,?,?)");
    m->put_phase = database_prepare(&m->db, "INSERT INTO phases VALUES (?,?,?,?,?,?)");
    error = take_all(m);
    sqlite3_finalize(m->put_count);
    sqlite3_finalize(m->put_phase);
    sweep_store(m, result);
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
    return run_fail(failure, "cannot write '%s': %s; 'hr sweep --resume -o %s' tries again", path,
                    strerror(-error), sweep->folder);
}
