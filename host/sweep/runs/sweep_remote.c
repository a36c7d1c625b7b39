/* Performs the runs of a sweep on other machines: what comes back is checked here. */
#include "host/sweep/runs/sweep_remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/sweep/database/sweep_read.h"
#include "host/sweep/runs/sweep_stick.h"
#include "host/sweep/runs/sweep_task.h"

static struct sweep_remote *own(const struct remote *r)
{
    return (struct sweep_remote *)r;
}

static char *write_name(const struct remote *r, const struct remote_job *job,
                        char name[REMOTE_NAME_BYTES])
{
    return sweep_task_name(own(r)->sweep, (const struct sweep_job *)job, name);
}

static struct remote_job *find(const struct remote *r, const char *name)
{
    struct sweep_job *job = sweep_task_find(own(r)->sweep, name);

    return job != NULL ? &job->remote : NULL;
}

static void write_input_path(const struct remote *r, const struct remote_job *,
                             char path[REMOTE_PATH_BYTES])
{
    remote_path(r, "sweep.json", path);
}

static void write_parts(const struct remote *r, const struct remote_job *of,
                        char paths[REMOTE_PARTS][REMOTE_PATH_BYTES])
{
    static const char *const endings[REMOTE_PARTS] = {SWEEP_OUTPUT, SWEEP_ERRORS, SWEEP_PARTIAL};

    for (size_t i = 0; i < REMOTE_PARTS; i++)
        sweep_job_path(own(r)->sweep, (const struct sweep_job *)of, endings[i], paths[i]);
}

static void show(struct remote *r)
{
    const struct sweep *sweep = own(r)->sweep;
    size_t done = 0;

    for (size_t i = 0; i < sweep->job_count; i++)
        done += sweep->jobs[i].state != SWEEP_WAITS;
    sweep_measure_show(&r->line, sweep, done, r->start_ns, r->good);
}

static const char *name_of(const struct sweep *sweep, const struct sweep_job *job, size_t event)
{
    return sweep->plan.events[sweep->plan.runs[job->run].events[event]].name;
}

/* Why the trace of a parcel cannot be taken; NULL: it can. */
static const char *check_trace(struct sweep_remote *r, const struct sweep_job *job,
                               const struct summary *summary)
{
    size_t events = job == &r->sweep->first ? 1 : r->sweep->plan.runs[job->run].count + 1;

    if (!summary->complete || summary->damaged_chunks != 0 || summary->missing_chunks != 0)
        return "its trace is damaged";
    if (summary->info.event_count != events)
        return "its trace has other events";
    for (size_t i = 1; i < events; i++)
        if (trace_info_find_event(&summary->info, name_of(r->sweep, job, i - 1)) != (int)i)
            return "its trace has other events";
    return NULL;
}

/* The first run says which processor the sweep is for; a later one must have the same. */
static enum remote_taken check_machine(struct sweep_remote *r, struct sweep_job *job,
                                       const struct summary *summary)
{
    char machine[sizeof r->machine], here[2 * sizeof machine], there[2 * sizeof machine];
    struct run_failure failure = {0};

    sweep_trace_machine(&summary->info, machine);
    if (job == &r->sweep->first) {
        if ((r->sweep->stick != 0
                 ? sweep_stick_check(r->sweep, &summary->info, &failure)
                 : sweep_measure_machine(&r->sweep->plan.machine, &summary->info, &failure)) != 0) {
            snprintf(r->remote.reason, sizeof r->remote.reason, "%.390s", failure.text);
            return REMOTE_TAKEN_OTHER;
        }
        strcpy(r->machine, machine);
    }
    if (strcmp(machine, r->machine) == 0)
        return REMOTE_TAKEN;
    snprintf(r->remote.reason, sizeof r->remote.reason,
             "its processor is %.150s, and that of this sweep is %.150s",
             text_escape(there, sizeof there, machine), text_escape(here, sizeof here, r->machine));
    return REMOTE_TAKEN_OTHER;
}

static enum remote_taken check(struct sweep_remote *r, struct sweep_job *job, const char *trace)
{
    static struct summary summary;
    char text[RUN_CHILD_REASON_BYTES];
    const char *wrong;
    enum remote_taken taken = REMOTE_TAKEN_FAILED;

    if (summary_from_file(trace, &summary) != 0) {
        snprintf(r->remote.reason, sizeof r->remote.reason, "the run ended with status %d: %s",
                 job->status, sweep_measure_reason(r->sweep, job, text));
        return REMOTE_TAKEN_FAILED;
    }
    wrong = check_trace(r, job, &summary);
    if (wrong == NULL)
        taken = check_machine(r, job, &summary);
    else
        snprintf(r->remote.reason, sizeof r->remote.reason, "%s", wrong);
    summary_free(&summary);
    if (taken == REMOTE_TAKEN && job != &r->sweep->first && job->status != r->sweep->first.status &&
        (job->remote.tries + 1 < SWEEP_TRIES || job->status == RUN_EXIT_FAILED)) {
        snprintf(r->remote.reason, sizeof r->remote.reason, "the run ended with status %d",
                 job->status);
        taken = REMOTE_TAKEN_FAILED;
    }
    return taken;
}

static enum remote_taken accept(struct remote *of, struct remote_job *remote_job,
                                const struct remote_parcel *parcel, struct run_failure *failure)
{
    struct sweep_remote *r = own(of);
    struct sweep_job *job = (struct sweep_job *)remote_job;
    char output[SWEEP_PATH_BYTES], trace[SWEEP_PATH_BYTES];
    enum remote_taken taken;

    job->status = parcel->status;
    if (trial_output_read(sweep_job_path(r->sweep, job, SWEEP_OUTPUT, output), &job->output) != 0)
        return REMOTE_TAKEN_NOTHING;
    taken = check(r, job, sweep_job_path(r->sweep, job, SWEEP_PARTIAL, trace));
    if (taken != REMOTE_TAKEN) {
        unlink(trace);
        return taken;
    }
    job->state = SWEEP_DONE;
    if (sweep_measure_keep(r->sweep, job, failure) == 0 &&
        ((job == &r->sweep->first && r->sweep->stick == 0) ||
         sweep_folder_note(r->sweep, job, failure) == 0)) {
        job->remote.waits = false;
        return REMOTE_TAKEN;
    }
    job->state = SWEEP_WAITS;
    return REMOTE_TAKEN_NOTHING;
}

enum remote_taken sweep_remote_accept(struct sweep_remote *r, struct sweep_job *job,
                                      const struct remote_parcel *parcel,
                                      struct run_failure *failure)
{
    return accept(&r->remote, &job->remote, parcel, failure);
}

static const struct remote_owner owner = {
    .word = "sweep",
    .program = SWEEP_ARCHIVE,
    .input = "sweep.json",
    .input_path = write_input_path,
    .name = write_name,
    .find = find,
    .parts = write_parts,
    .accept = accept,
    .show = show,
};

int sweep_remote_recall(struct sweep_remote *r, struct run_failure *failure)
{
    static struct summary summary;
    char path[SWEEP_PATH_BYTES];

    if (r->sweep->first.state != SWEEP_DONE)
        return 0;
    if (summary_from_file(sweep_job_path(r->sweep, &r->sweep->first, SWEEP_TRACE, path),
                          &summary) != 0)
        return run_fail(failure, "cannot read '%s'; begin another sweep", path);
    sweep_trace_machine(&summary.info, r->machine);
    summary_free(&summary);
    return 0;
}

/* Tells the transport which jobs wait: jobs may have been added, or given up. */
static void note_waiting(struct sweep *sweep)
{
    sweep->first.remote.waits = sweep->first.state == SWEEP_WAITS;
    for (size_t i = 0; i < sweep->job_count; i++)
        sweep->jobs[i].remote.waits = sweep->jobs[i].state == SWEEP_WAITS;
}

int sweep_remote_begin(struct sweep_remote *r, struct sweep *sweep, bool quiet,
                       struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];

    *r = (struct sweep_remote){.remote = {.owner = &owner,
                                          .where = &sweep->where,
                                          .folder = sweep->folder,
                                          .machines = &sweep->machines},
                               .sweep = sweep};
    if (sweep_remote_recall(r, failure) != 0)
        return -1;
    if (access(sweep_path(sweep, SWEEP_ARCHIVE, path), R_OK) != 0 &&
        (sweep_task_pack(sweep, failure) != 0 || sweep_folder_save(sweep, failure) != 0))
        return -1;
    note_waiting(sweep);
    return remote_begin(&r->remote, quiet, failure);
}

void sweep_remote_end(struct sweep_remote *r)
{
    remote_end(&r->remote);
}

int sweep_remote_first(struct sweep_remote *r, struct run_failure *failure)
{
    struct sweep_job *first = &r->sweep->first;

    while (first->state != SWEEP_DONE) {
        struct remote_job *jobs[] = {&first->remote};

        if (r->remote.transport->perform(&r->remote, jobs, 1, failure) != 0)
            return -1;
        if (first->state != SWEEP_DONE && first->remote.tries >= SWEEP_TRIES)
            return run_fail(failure, "the first run fails: %s", r->remote.reason);
    }
    return 0;
}

static bool any_done(const struct sweep_remote *r)
{
    size_t i = 0;

    while (i < r->sweep->job_count && r->sweep->jobs[i].state != SWEEP_DONE)
        i++;
    return r->remote.good != 0 || i < r->sweep->job_count;
}

/* Jobs that failed too often are divided, or given up.  Where no run succeeds, nothing is. */
static int give_up(struct sweep_remote *r, struct run_failure *failure)
{
    for (size_t i = 0; i < r->sweep->job_count; i++) {
        if (r->sweep->jobs[i].state != SWEEP_WAITS || r->sweep->jobs[i].remote.tries < SWEEP_TRIES)
            continue;
        if (!any_done(r))
            return run_fail(failure, "no run succeeds: %s", r->remote.reason);
        progress_erase(&r->remote.line);
        if (sweep_measure_failed(r->sweep, i, failure) != 0)
            return -1;
    }
    return 0;
}

int sweep_remote_measure(struct sweep_remote *r, struct run_failure *failure)
{
    struct sweep *sweep = r->sweep;
    int result = 0;

    while (result == 0) {
        struct remote_job **jobs = calloc(sweep->job_count + 1, sizeof(void *));
        size_t count = 0;

        if (jobs == NULL)
            return run_fail(failure, "out of memory; end other programs");
        note_waiting(sweep);
        for (size_t i = 0; i < sweep->job_count; i++)
            if (sweep->jobs[i].remote.waits)
                jobs[count++] = &sweep->jobs[i].remote;
        if (count != 0)
            result = r->remote.transport->perform(&r->remote, jobs, count, failure);
        free(jobs);
        if (count == 0)
            break;
        if (result == 0)
            result = give_up(r, failure);
    }
    return result;
}
