/* Takes what machines send of the runs of a suite, and believes nothing of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/suite/suite_remote.h"
#include "host/suite/suite_task.h"

static struct suite_remote *own(const struct remote *r)
{
    return (struct suite_remote *)r;
}

/* ---- what the transport asks */

static char *write_name(const struct remote *, const struct remote_job *of,
                        char name[REMOTE_NAME_BYTES])
{
    const struct suite_job *job = (const struct suite_job *)of;

    snprintf(name, REMOTE_NAME_BYTES, "%.64s+%u", job->benchmark->name, job->number);
    return name;
}

static struct remote_job *find(const struct remote *r, const char *name)
{
    char other[REMOTE_NAME_BYTES];

    for (size_t i = 0; i < own(r)->count; i++) {
        if (strcmp(write_name(r, &own(r)->jobs[i]->remote, other), name) == 0)
            return &own(r)->jobs[i]->remote;
    }
    return NULL;
}

static void write_input_path(const struct remote *r, const struct remote_job *of,
                             char path[REMOTE_PATH_BYTES])
{
    const struct suite_job *job = (const struct suite_job *)of;

    snprintf(path, REMOTE_PATH_BYTES, "%.4000s/tasks/%s" SUITE_TASK, r->folder,
             job->benchmark->name);
}

void suite_remote_places(const struct suite_remote *r, const struct suite_job *job,
                         struct suite_places *places)
{
    suite_places_set(r->suite, job->benchmark, r->remote.folder, job->number, places);
}

static void write_parts(const struct remote *r, const struct remote_job *of,
                        char paths[REMOTE_PARTS][REMOTE_PATH_BYTES])
{
    struct suite_places places;

    suite_remote_places(own(r), (const struct suite_job *)of, &places);
    snprintf(paths[REMOTE_PART_OUTPUT], REMOTE_PATH_BYTES, "%.4190s", places.output);
    snprintf(paths[REMOTE_PART_ERRORS], REMOTE_PATH_BYTES, "%.4190s", places.errors);
    snprintf(paths[REMOTE_PART_TRACE], REMOTE_PATH_BYTES, "%.4190s", places.trace);
}

static void show(struct remote *r)
{
    char text[80];
    size_t done = 0;

    for (size_t i = 0; i < own(r)->count; i++)
        done += !own(r)->jobs[i]->remote.waits;
    snprintf(text, sizeof text, "%zu of %zu runs", done, own(r)->count);
    progress_show(&r->line, text);
}

/* The CPU model that a benchmark asks for; "": that of the machine, or of virtual time. */
static const char *cpu_of(const struct suite_benchmark *b)
{
    for (size_t i = 0; i < b->options.count; i++)
        if (strncmp(b->options.list[i], "--cpu=", 6) == 0)
            return b->options.list[i] + 6;
    return "";
}

/* Runs of different processors are not for one suite, unless it asks for them. */
static bool same_machine(struct suite_remote *r, const struct suite_job *job)
{
    const char *there = diff_facts_find(&job->run.facts, "machine");
    char safe[2][200];

    for (size_t i = 0; i < r->count; i++) {
        const struct suite_job *other = r->jobs[i];
        const char *here = diff_facts_find(&other->run.facts, "machine");

        if (!other->done || there == NULL || here == NULL || strcmp(here, there) == 0 ||
            strcmp(cpu_of(other->benchmark), cpu_of(job->benchmark)) != 0)
            continue;
        snprintf(r->remote.reason, sizeof r->remote.reason,
                 "its processor is %.150s, and that of this suite is %.150s",
                 text_escape(safe[0], sizeof safe[0], there),
                 text_escape(safe[1], sizeof safe[1], here));
        return false;
    }
    return true;
}

/* Reads what a run left in its files. */
static enum remote_taken measure(struct suite_remote *r, struct suite_job *job,
                                 struct run_failure *failure)
{
    struct suite_places places;

    suite_remote_places(r, job, &places);
    suite_outcome_free(&job->run);
    job->run = (struct suite_outcome){0};
    if (trial_output_read(places.output, &job->run.output) != 0 ||
        suite_measure(&job->run, places.trace) != 0) {
        run_fail(failure, "out of memory, or '%s' is missing", places.output);
        return REMOTE_TAKEN_NOTHING;
    }
    if (job->run.problem != NULL)
        snprintf(job->problem, sizeof job->problem, "%.390s", job->run.problem);
    return job->run.problem == NULL ? REMOTE_TAKEN : REMOTE_TAKEN_FAILED;
}

/* Notes that a run is there, for --resume. */
static int note(const struct remote *r, const struct suite_job *job, struct run_failure *failure)
{
    char path[REMOTE_PATH_BYTES], name[REMOTE_NAME_BYTES];
    FILE *file = fopen(remote_path(r, SUITE_JOBS_FILE, path), "ae");

    write_name(r, &job->remote, name);
    if (file != NULL && fprintf(file, "%s,%s\n", name, remote_job_host(r, &job->remote)) > 0 &&
        fclose(file) == 0)
        return 0;
    return run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
}

static enum remote_taken accept(struct remote *r, struct remote_job *of,
                                const struct remote_parcel *parcel, struct run_failure *failure)
{
    struct suite_job *job = (struct suite_job *)of;
    struct suite_places places;
    enum remote_taken taken;

    suite_remote_places(own(r), job, &places);
    if (parcel->status != job->benchmark->exit_status) {
        suite_problem(job->benchmark, parcel->status, places.errors, job->problem);
        snprintf(r->reason, sizeof r->reason, "%.390s", job->problem);
        return REMOTE_TAKEN_FAILED;
    }
    taken = measure(own(r), job, failure);
    if (taken == REMOTE_TAKEN_FAILED)
        snprintf(r->reason, sizeof r->reason, "%.390s", job->problem);
    if (taken != REMOTE_TAKEN)
        return taken;
    if (!same_machine(own(r), job))
        return REMOTE_TAKEN_OTHER;
    if (note(r, job, failure) != 0)
        return REMOTE_TAKEN_NOTHING;
    job->done = true;
    job->remote.waits = false;
    return REMOTE_TAKEN;
}

const struct remote_owner suite_remote_owner = {
    .word = "suite",
    .input = SUITE_TASK_THERE,
    .input_path = write_input_path,
    .name = write_name,
    .find = find,
    .parts = write_parts,
    .accept = accept,
    .show = show,
};

bool suite_remote_restore(struct suite_remote *r, struct suite_job *job)
{
    char path[REMOTE_PATH_BYTES], name[REMOTE_NAME_BYTES], line[256];
    struct run_failure ignored = {0};
    size_t bytes;
    FILE *file = fopen(remote_path(&r->remote, SUITE_JOBS_FILE, path), "re");

    write_name(&r->remote, &job->remote, name);
    bytes = strlen(name);
    while (file != NULL && fgets(line, sizeof line, file) != NULL && !job->done) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, name, bytes) != 0 || line[bytes] != ',')
            continue;
        job->remote.host = remote_machines_find(&r->machines, line + bytes + 1);
        job->done = measure(r, job, &ignored) == REMOTE_TAKEN && same_machine(r, job);
    }
    if (file != NULL)
        fclose(file);
    return job->done;
}
