/* Performs the benchmarks of a suite on other machines.
 *
 * A job is one run of a benchmark.  The first runs of all come first, because they tell how many
 * more there are.
 */
#include "host/suite/suite_remote.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/error.h"
#include "host/suite/suite_task.h"

static int add_job(struct suite_remote *r, const struct suite_benchmark *b,
                   struct suite_outcome *outcome, uint32_t number, struct run_failure *failure)
{
    struct suite_job *job = calloc(1, sizeof *job);

    if (job == NULL || array_grow(&r->jobs, r->count, sizeof(void *)) != 0) {
        free(job);
        return run_fail(failure, "out of memory; end other programs");
    }
    job->benchmark = b;
    job->outcome = outcome;
    job->number = number;
    r->jobs[r->count++] = job;
    job->remote.waits = !(r->selection->resume && suite_remote_restore(r, job));
    return 0;
}

/* Packs what is selected, and adds the first run of each. */
static int make_jobs(struct suite_remote *r, struct suite_results *results,
                     struct run_failure *failure)
{
    struct suite_outcome *o = results->outcomes;

    for (size_t i = 0; i < r->suite->benchmark_count; i++) {
        const struct suite_benchmark *b = &r->suite->benchmarks[i];
        struct run_failure wrong = {0};
        int made;

        if (!suite_is_selected(b, r->selection))
            continue;
        if (suite_outcome_begin(o, b, failure) != 0)
            return -1;
        made = suite_task_make(r->suite, b, r->selection, r->remote.folder, &wrong);
        if (made < 0)
            return run_fail_as(failure, wrong.exit_status, "%s", wrong.text);
        if (made > 0)
            o->problem = strdup(wrong.text);
        else if (add_job(r, b, o, 1, failure) != 0)
            return -1;
        o++;
    }
    return 0;
}

/* Adds the other runs of the benchmarks whose first run is there. */
static int extend(struct suite_remote *r, struct run_failure *failure)
{
    size_t count = r->count;

    for (size_t i = 0; i < count; i++) {
        const struct suite_job *first = r->jobs[i];
        uint32_t runs;

        if (first->number != 1 || !first->done)
            continue;
        runs = suite_repeat_count(r->selection, first->benchmark, &first->run);
        for (uint32_t n = 2; n <= runs; n++)
            if (add_job(r, first->benchmark, first->outcome, n, failure) != 0)
                return -1;
    }
    return 0;
}

/* A run that failed too often ends its benchmark. */
static int give_up(struct suite_remote *r, struct run_failure *failure)
{
    for (size_t i = 0; i < r->count; i++) {
        struct suite_job *job = r->jobs[i];

        if (job->remote.waits && job->remote.tries >= REMOTE_TRIES &&
            job->outcome->problem == NULL) {
            job->outcome->problem = strdup(job->problem[0] != 0 ? job->problem : r->remote.reason);
            if (job->outcome->problem == NULL)
                return run_fail(failure, "out of memory; end other programs");
        }
    }
    for (size_t i = 0; i < r->count; i++)
        r->jobs[i]->remote.waits &= r->jobs[i]->outcome->problem == NULL;
    return 0;
}

/* Performs the jobs that wait. */
static int perform(struct suite_remote *r, struct run_failure *failure)
{
    int result = 0;

    for (;;) {
        struct remote_job **waiting = calloc(r->count + 1, sizeof(void *));
        size_t count = 0;

        if (waiting == NULL)
            return run_fail(failure, "out of memory; end other programs");
        for (size_t i = 0; i < r->count; i++)
            if (r->jobs[i]->remote.waits)
                waiting[count++] = &r->jobs[i]->remote;
        if (count != 0)
            result = r->remote.transport->perform(&r->remote, waiting, count, failure);
        free(waiting);
        if (count == 0 || result != 0)
            return result;
        if (give_up(r, failure) != 0)
            return -1;
    }
}

/* ---- the results */

/* Notes the Linux of the machines where a benchmark ran, which is said if it is not the same. */
static int note_kernels(const struct suite_remote *r, struct suite_outcome *o)
{
    char kernels[3 * REMOTE_FACT_BYTES] = "";

    for (size_t i = 0; i < r->count; i++) {
        uint32_t host = r->jobs[i]->remote.host;
        const char *kernel = host != 0 ? r->machines.list[host - 1].kernel : "unknown";
        size_t used = strlen(kernels);

        if (r->jobs[i]->outcome == o && strstr(kernels, kernel) == NULL)
            snprintf(kernels + used, sizeof kernels - used, "%s%s", used != 0 ? ", " : "", kernel);
    }
    if (!o->exact && o->problem == NULL && strchr(kernels, ',') != NULL)
        error_print("%s: its runs are of machines with different kernels: %s", o->name, kernels);
    return suite_note_kernel(o, kernels);
}

static int conclude(struct suite_remote *r, struct suite_results *results,
                    struct run_failure *failure)
{
    int error = 0;

    for (size_t i = 0; i < r->count && error == 0; i++)
        if (r->jobs[i]->done && r->jobs[i]->outcome->problem == NULL)
            error = suite_repeat_join(r->jobs[i]->outcome, r->jobs[i]->number, &r->jobs[i]->run);
    progress_erase(&r->remote.line);
    for (size_t i = 0; i < results->outcome_count && error == 0; i++) {
        error = note_kernels(r, &results->outcomes[i]);
        if (!r->selection->quiet)
            suite_say(&results->outcomes[i], i + 1, results->outcome_count);
    }
    return error == 0 ? 0 : run_fail(failure, "out of memory; end other programs");
}

/* Removes what only a run in progress needs. */
static void clear(const struct suite_remote *r)
{
    char path[REMOTE_PATH_BYTES];

    for (size_t i = 0; i < r->count; i++) {
        struct suite_places places;
        const struct trial_files files = {places.trace, places.output, places.errors};

        suite_remote_places(r, r->jobs[i], &places);
        if (r->jobs[i]->number != 1)
            trial_remove(&files);
        suite_remote_owner.input_path(&r->remote, &r->jobs[i]->remote, path);
        unlink(path);
    }
    unlink(remote_path(&r->remote, SUITE_JOBS_FILE, path));
    rmdir(remote_path(&r->remote, "tasks", path));
}

/* Without --resume what an earlier command left is not taken. */
static void forget(const struct remote *r)
{
    char path[REMOTE_PATH_BYTES], name[320];
    DIR *folder = opendir(remote_path(r, "tasks", path));
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        snprintf(name, sizeof name, "tasks/%s", entry->d_name);
        if (strstr(entry->d_name, REMOTE_PARCEL) != NULL)
            unlink(remote_path(r, name, path));
    }
    if (folder != NULL)
        closedir(folder);
    unlink(remote_path(r, SUITE_JOBS_FILE, path));
    unlink(remote_path(r, REMOTE_MACHINES, path));
}

static int run_jobs(struct suite_remote *r, struct suite_results *results,
                    struct run_failure *failure)
{
    char path[REMOTE_PATH_BYTES];
    int result;

    if (mkdir(remote_path(&r->remote, "tasks", path), 0777) != 0 && errno != EEXIST)
        return run_fail(failure, "cannot make the folder '%s': %s", path, strerror(errno));
    if (r->selection->resume)
        remote_machines_read(&r->machines, remote_path(&r->remote, REMOTE_MACHINES, path));
    else
        forget(&r->remote);
    if (make_jobs(r, results, failure) != 0)
        return -1;
    result = remote_begin(&r->remote, r->selection->quiet, failure);
    if (result == 0)
        result = perform(r, failure);
    if (result == 0)
        result = extend(r, failure);
    if (result == 0)
        result = perform(r, failure);
    remote_end(&r->remote);
    return result;
}

int suite_remote(const struct suite *suite, const struct suite_selection *selection,
                 const char *folder, struct suite_results *results, struct run_failure *failure)
{
    struct suite_remote r = {.suite = suite, .selection = selection};
    int result;

    r.remote = (struct remote){.owner = &suite_remote_owner,
                               .where = &selection->where,
                               .folder = folder,
                               .machines = &r.machines};
    result = run_jobs(&r, results, failure);
    if (result != 0 && r.count != 0)
        error_print("the same command with --resume takes the runs that are there");
    if (result == 0)
        result = conclude(&r, results, failure);
    if (result == 0)
        clear(&r);
    for (size_t i = 0; i < r.count; i++) {
        suite_outcome_free(&r.jobs[i]->run);
        free(r.jobs[i]);
    }
    free(r.jobs);
    free(r.machines.list);
    return result;
}
