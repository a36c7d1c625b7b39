/* Performs the runs of a sweep on other machines: what is common to the ways to reach them. */
#include "host/sweep/runs/sweep_remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/sweep/database/sweep_read.h"
#include "host/sweep/runs/sweep_task.h"
#include "host/trial/trial_process.h"
#include "include/version.h"

char *sweep_remote_path(const struct sweep_remote *r, const struct sweep_job *job,
                        const char *ending, char path[SWEEP_PATH_BYTES])
{
    char task[SWEEP_TASK_BYTES], name[SWEEP_TASK_BYTES + 40];

    snprintf(name, sizeof name, "tasks/%s%.30s", sweep_task_name(r->sweep, job, task), ending);
    return sweep_path(r->sweep, name, path);
}

int sweep_remote_stopped(int number, struct run_failure *failure)
{
    return run_fail_as(failure, RUN_EXIT_SIGNAL_BASE + number, "ended by %s", strsignal(number));
}

size_t sweep_remote_words(char *text, const char **list, size_t room)
{
    size_t count = 0;
    char *rest;

    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < room;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    return count;
}

size_t sweep_remote_count(const char *text)
{
    size_t count = 0;

    for (text += strspn(text, " "); *text != 0; text += strspn(text, " ")) {
        text += strcspn(text, " ");
        count++;
    }
    return count;
}

void sweep_remote_leave_out(struct sweep_remote *r, const char *host)
{
    char name[SWEEP_HOST_BYTES * 4];

    progress_erase(&r->line);
    error_print("%s is left out: %s", text_escape(name, sizeof name, host), r->reason);
}

void sweep_remote_show(struct sweep_remote *r)
{
    size_t done = 0;

    for (size_t i = 0; i < r->sweep->job_count; i++)
        done += r->sweep->jobs[i].state != SWEEP_WAITS;
    sweep_measure_show(&r->line, r->sweep, done, r->start_ns, r->good);
}

/* Why the trace of a parcel cannot be taken; NULL: it can. */
static const char *check_trace(struct sweep_remote *r, const struct sweep_job *job,
                               const struct summary *summary)
{
    size_t events = job == &r->sweep->first ? 1 : r->sweep->plan.runs[job->run].count + 1;

    if (!summary->complete || summary->damaged_chunks != 0 || summary->missing_chunks != 0)
        return "its trace is damaged";
    return summary->info.event_count == events ? NULL : "its trace has other events";
}

/* The first run says which processor the sweep is for; a later one must have the same. */
static enum sweep_taken check_machine(struct sweep_remote *r, struct sweep_job *job,
                                      const struct summary *summary)
{
    char machine[sizeof r->machine], here[2 * sizeof machine], there[2 * sizeof machine];
    struct run_failure failure = {0};

    sweep_trace_machine(&summary->info, machine);
    if (job == &r->sweep->first) {
        if (sweep_measure_machine(&r->sweep->plan.machine, &summary->info, &failure) != 0) {
            snprintf(r->reason, sizeof r->reason, "%.390s", failure.text);
            return SWEEP_TAKEN_OTHER;
        }
        strcpy(r->machine, machine);
    }
    if (strcmp(machine, r->machine) == 0)
        return SWEEP_TAKEN;
    snprintf(r->reason, sizeof r->reason,
             "its processor is %.150s, and that of this sweep is %.150s",
             text_escape(there, sizeof there, machine), text_escape(here, sizeof here, r->machine));
    return SWEEP_TAKEN_OTHER;
}

static enum sweep_taken check(struct sweep_remote *r, struct sweep_job *job, const char *trace)
{
    static struct summary summary;
    char text[RUN_CHILD_REASON_BYTES];
    const char *wrong;
    enum sweep_taken taken = SWEEP_TAKEN_FAILED;

    if (summary_from_file(trace, &summary) != 0) {
        snprintf(r->reason, sizeof r->reason, "the run ended with status %d: %s", job->status,
                 sweep_measure_reason(r->sweep, job, text));
        return SWEEP_TAKEN_FAILED;
    }
    wrong = check_trace(r, job, &summary);
    if (wrong == NULL)
        taken = check_machine(r, job, &summary);
    else
        snprintf(r->reason, sizeof r->reason, "%s", wrong);
    summary_free(&summary);
    if (taken == SWEEP_TAKEN && job != &r->sweep->first && job->status != r->sweep->first.status &&
        (job->tries + 1 < SWEEP_TRIES || job->status == RUN_EXIT_FAILED)) {
        snprintf(r->reason, sizeof r->reason, "the run ended with status %d", job->status);
        taken = SWEEP_TAKEN_FAILED;
    }
    return taken;
}

/* Believes nothing of the parcel but what is checked. */
static enum sweep_taken take_parcel(struct sweep_remote *r, struct sweep_job *job, const char *file,
                                    const char *host, struct run_failure *failure)
{
    char paths[SWEEP_PARTS][SWEEP_PATH_BYTES];
    const char *const parts[SWEEP_PARTS] = {sweep_job_path(r->sweep, job, SWEEP_OUTPUT, paths[0]),
                                            sweep_job_path(r->sweep, job, SWEEP_ERRORS, paths[1]),
                                            sweep_job_path(r->sweep, job, SWEEP_PARTIAL, paths[2])};
    struct sweep_parcel parcel;
    enum sweep_taken taken;

    if (sweep_parcel_read(&parcel, file, parts, failure) != 0)
        return SWEEP_TAKEN_NOTHING;
    if (host != NULL)
        snprintf(parcel.host, sizeof parcel.host, "%.60s", host);
    if (strcmp(parcel.version, VERSION_TEXT) != 0) {
        run_fail(failure, "it has hr %s, and this is hr " VERSION_TEXT, parcel.version);
        return SWEEP_TAKEN_OTHER;
    }
    job->host = sweep_folder_host(r->sweep, &parcel, failure);
    job->status = parcel.status;
    if (job->host == 0 || trial_output_read(parts[0], &job->output) != 0)
        return SWEEP_TAKEN_NOTHING;
    taken = check(r, job, parts[2]);
    if (taken != SWEEP_TAKEN) {
        unlink(parts[2]);
        return taken;
    }
    job->state = SWEEP_DONE;
    if (sweep_measure_keep(r->sweep, job, failure) == 0 &&
        (job == &r->sweep->first || sweep_folder_note(r->sweep, job, failure) == 0))
        return SWEEP_TAKEN;
    job->state = SWEEP_WAITS;
    return SWEEP_TAKEN_NOTHING;
}

enum sweep_taken sweep_remote_take(struct sweep_remote *r, struct sweep_job *job,
                                   const char *parcel, const char *host)
{
    struct run_failure failure = {0};
    enum sweep_taken taken = take_parcel(r, job, parcel, host, &failure);

    unlink(parcel);
    if (failure.text[0] != 0)
        snprintf(r->reason, sizeof r->reason, "%.390s", failure.text);
    r->good += taken == SWEEP_TAKEN;
    job->tries += taken == SWEEP_TAKEN_FAILED;
    return taken;
}

/* The machine of the first run, of a sweep that is continued. */
static int recall(struct sweep_remote *r, struct run_failure *failure)
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

int sweep_remote_begin(struct sweep_remote *r, struct sweep *sweep, bool quiet,
                       struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];

    *r = (struct sweep_remote){
        .sweep = sweep,
        .transport = sweep->where.hosts != NULL ? &sweep_hosts : &sweep_slurm,
        .quiet = quiet,
        .start_ns = monotonic_ns(),
    };
    progress_init(&r->line, !quiet, r->start_ns);
    if (recall(r, failure) != 0)
        return -1;
    if (access(sweep_path(sweep, SWEEP_ARCHIVE, path), R_OK) != 0 &&
        (sweep_task_pack(sweep, failure) != 0 || sweep_folder_save(sweep, failure) != 0))
        return -1;
    trial_process_begin();
    return r->transport->begin(r, failure);
}

void sweep_remote_end(struct sweep_remote *r)
{
    if (r->transport == NULL)
        return;
    progress_erase(&r->line);
    r->transport->end(r);
}

int sweep_remote_first(struct sweep_remote *r, struct run_failure *failure)
{
    struct sweep_job *first = &r->sweep->first;

    while (first->state != SWEEP_DONE) {
        struct sweep_job *jobs[] = {first};

        if (r->transport->perform(r, jobs, 1, failure) != 0)
            return -1;
        if (first->state != SWEEP_DONE && first->tries >= SWEEP_TRIES)
            return run_fail(failure, "the first run fails: %s", r->reason);
    }
    return 0;
}

static bool any_done(const struct sweep_remote *r)
{
    size_t i = 0;

    while (i < r->sweep->job_count && r->sweep->jobs[i].state != SWEEP_DONE)
        i++;
    return r->good != 0 || i < r->sweep->job_count;
}

/* Jobs that failed too often are divided, or given up.  Where no run succeeds, nothing is. */
static int give_up(struct sweep_remote *r, struct run_failure *failure)
{
    for (size_t i = 0; i < r->sweep->job_count; i++) {
        if (r->sweep->jobs[i].state != SWEEP_WAITS || r->sweep->jobs[i].tries < SWEEP_TRIES)
            continue;
        if (!any_done(r))
            return run_fail(failure, "no run succeeds: %s", r->reason);
        progress_erase(&r->line);
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
        struct sweep_job **jobs = calloc(sweep->job_count + 1, sizeof(void *));
        size_t count = 0;

        if (jobs == NULL)
            return run_fail(failure, "out of memory; end other programs");
        for (size_t i = 0; i < sweep->job_count; i++)
            if (sweep->jobs[i].state == SWEEP_WAITS)
                jobs[count++] = &sweep->jobs[i];
        if (count != 0)
            result = r->transport->perform(r, jobs, count, failure);
        free(jobs);
        if (count == 0)
            break;
        if (result == 0)
            result = give_up(r, failure);
    }
    return result;
}
