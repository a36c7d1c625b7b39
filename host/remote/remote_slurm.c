/* Performs runs as the tasks of job arrays of Slurm, which share the owner's folder. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/text.h"
#include "host/remote/remote.h"
#include "host/run/run_child.h"
#include "host/trial/trial_process.h"
#include "lib/array.h"

#define ARRAY_TASKS 1000u /* Slurm's MaxArraySize is 1001, unless it is configured */
#define SBATCH_WORDS 64
#define EXCLUDED_BYTES 4000
#define ASK_FIRST_MS 1000 /* between two questions to Slurm; longer and longer */
#define ASK_LAST_MS 15000
#define UNSEEN_MS 60000 /* until other machines see a file of a network file system */
#define ANSWERS_LOST 20u /* of Slurm, until hr gives up */
#define JOBS_FILE "tasks/slurm.jobs" /* the job that is not known to have ended */

static struct {
    char folder[PATH_MAX], hr[PATH_MAX]; /* as nodes know them */
    char others[EXCLUDED_BYTES]; /* nodes of no use: ,NAME,NAME */
    char id[32]; /* of the job array; "": there is none */
    struct remote_job **jobs; /* its tasks, by number */
    size_t count;
    bool active; /* a task waits or runs */
    bool unseen; /* a task ended well, and its result is not here */
    char pending[48]; /* why tasks wait, as Slurm says */
} array;

static char *file(const struct remote *r, const char *name, char path[REMOTE_PATH_BYTES])
{
    return remote_path(r, name, path);
}

/* Runs a command of Slurm's with its output in tasks/slurm.out.  Returns its status or minus a
 * signal. */
static int ask(const struct remote *r, const char *const argv[])
{
    char out[REMOTE_PATH_BYTES], errors[REMOTE_PATH_BYTES];

    return trial_process_run(argv, NULL, file(r, "tasks/slurm.out", out),
                             file(r, "tasks/slurm.err", errors));
}

static void cancel(const struct remote *r)
{
    const char *const argv[] = {"scancel", array.id, NULL};
    char path[REMOTE_PATH_BYTES];

    if (array.id[0] != 0)
        (void)ask(r, argv);
    array.id[0] = 0;
    unlink(file(r, JOBS_FILE, path));
}

static bool is_number(const char *text)
{
    return text[0] != 0 && strspn(text, "0123456789") == strlen(text);
}

/* Takes the number of a job: NUMBER, or NUMBER;CLUSTER. */
static void read_id(const char *path)
{
    FILE *in = fopen(path, "re");

    if (in == NULL || fgets(array.id, sizeof array.id, in) == NULL)
        array.id[0] = 0;
    if (in != NULL)
        fclose(in);
    array.id[strcspn(array.id, ";\n")] = 0;
    if (!is_number(array.id))
        array.id[0] = 0;
}

/* A job that an earlier hr left is cancelled; what it did is taken. */
static void take_over(const struct remote *r)
{
    char path[REMOTE_PATH_BYTES];

    read_id(file(r, JOBS_FILE, path));
    cancel(r);
}

static void exclude(char list[EXCLUDED_BYTES], const char *host)
{
    size_t used = strlen(list), bytes = strlen(host);
    const char *found = strstr(list, host);

    if (bytes == 0 || used + bytes + 2 > EXCLUDED_BYTES)
        return;
    while (found != NULL && (found[-1] != ',' || (found[bytes] != ',' && found[bytes] != 0)))
        found = strstr(found + 1, host);
    if (found == NULL)
        snprintf(list + used, EXCLUDED_BYTES - used, ",%s", host);
}

static void take(struct remote *r, struct remote_job *job, const char *path)
{
    enum remote_taken taken = remote_take(r, job, path, NULL);

    job->tries -= taken == REMOTE_TAKEN_FAILED; /* perform_array counts it */
    if (taken == REMOTE_TAKEN_OTHER && job->host != 0) {
        exclude(array.others, remote_job_host(r, job));
        remote_leave_out(r, remote_job_host(r, job));
    }
}

/* Takes what has come. */
static void take_all(struct remote *r)
{
    char path[REMOTE_PATH_BYTES];
    DIR *folder = opendir(file(r, "tasks", path));
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char name[REMOTE_NAME_BYTES + sizeof REMOTE_PARCEL], *end;
        struct remote_job *job;

        if (strlen(entry->d_name) >= sizeof name)
            continue;
        strcpy(name, entry->d_name);
        end = strstr(name, REMOTE_PARCEL);
        if (end == NULL || end[sizeof REMOTE_PARCEL - 1] != 0)
            continue;
        *end = 0;
        job = r->owner->find(r, name);
        if (job != NULL)
            remote_job_path(r, job, REMOTE_PARCEL, path);
        if (job != NULL && job->waits)
            take(r, job, path);
        else if (job != NULL)
            unlink(path); /* it was performed twice */
    }
    if (folder != NULL)
        closedir(folder);
}

static int begin(struct remote *r, struct run_failure *failure)
{
    const char *hr = r->where->hr;

    if (realpath(r->folder, array.folder) == NULL || realpath("/proc/self/exe", array.hr) == NULL)
        return run_fail(failure, "%s: %s", r->folder, strerror(errno));
    if (hr != NULL)
        snprintf(array.hr, sizeof array.hr, "%s", hr);
    if (strpbrk(array.folder, "'%\\") != NULL || strchr(array.hr, '\'') != NULL)
        return run_fail(failure, "--slurm: a path with ', %% or a backslash: %s; rename it",
                        strchr(array.hr, '\'') != NULL ? array.hr : array.folder);
    if (remote_count(r->where->slurm) > SBATCH_WORDS)
        return run_fail(failure, "--slurm: more than %d options for sbatch", SBATCH_WORDS);
    take_over(r);
    take_all(r);
    return 0;
}

static int write_script(const struct remote *r, const char *path, struct run_failure *failure)
{
    FILE *out = fopen(path, "we");
    char name[REMOTE_NAME_BYTES];

    if (out != NULL) {
        fprintf(out, "#!/bin/sh\nset --");
        for (size_t i = 0; i < array.count; i++)
            fprintf(out, " %s", r->owner->name(r, array.jobs[i], name));
        fprintf(out, "\nshift \"$SLURM_ARRAY_TASK_ID\"\nexec '%s' %s task '%s' \"$1\"\n", array.hr,
                r->owner->word, array.folder);
    }
    if (out != NULL && fclose(out) == 0)
        return 0;
    return run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
}

/* Returns sbatch's status; the job's number is set when it is 0. */
static int submit_without(struct remote *r, const char *script, const char *excluded)
{
    char *given = strdup(r->where->slurm);
    char tasks[32], log[PATH_MAX + 32], without[EXCLUDED_BYTES + 16], path[REMOTE_PATH_BYTES];
    const char *argv[SBATCH_WORDS + 10] = {
        "sbatch", "--parsable", "--no-requeue", "--job-name=microtome", tasks, log};
    size_t count = 6;
    int status;

    if (given == NULL)
        return 127;
    snprintf(tasks, sizeof tasks, "--array=0-%zu", array.count - 1);
    snprintf(log, sizeof log, "--output=%s/tasks/slurm-%%a.log", array.folder);
    if (excluded[0] != 0) {
        snprintf(without, sizeof without, "--exclude=%s", excluded + 1);
        argv[count++] = without;
    }
    count += remote_words(given, argv + count, SBATCH_WORDS);
    argv[count++] = script;
    argv[count] = NULL;
    status = ask(r, argv);
    free(given);
    if (status == 0)
        read_id(file(r, "tasks/slurm.out", path));
    return status;
}

/* Nodes where these runs failed are left out, if Slurm has others. */
static int submit(struct remote *r, struct run_failure *failure)
{
    char script[REMOTE_PATH_BYTES], path[REMOTE_PATH_BYTES], text[RUN_CHILD_REASON_BYTES];
    char excluded[EXCLUDED_BYTES];
    int status;

    if (write_script(r, file(r, "tasks/slurm.sh", script), failure) != 0)
        return -1;
    strcpy(excluded, array.others);
    for (size_t i = 0; i < array.count; i++)
        if (array.jobs[i]->tries != 0)
            exclude(excluded, remote_job_host(r, array.jobs[i]));
    status = submit_without(r, script, excluded);
    if (status > 0 && strcmp(excluded, array.others) != 0)
        status = submit_without(r, script, array.others);
    if (status < 0)
        return remote_stopped(-status, failure);
    if (status == 0 && array.id[0] != 0) {
        if (remote_write_file(file(r, JOBS_FILE, path), array.id, failure) == 0)
            return 0;
        cancel(r); /* another hr could not */
        return -1;
    }
    run_child_reason(file(r, "tasks/slurm.err", path), text);
    return status == 127 ? run_fail(failure, "--slurm: sbatch cannot be started; install Slurm's "
                                             "commands (Debian: slurm-client)")
                         : run_fail(failure, "--slurm: %s", text);
}

/* What Slurm says of a task: its number, or several; its state; its node; why it waits. */
static void take_line(struct remote *r, char *line)
{
    static const char *const ended[] = {"COMPLETED",     "FAILED",    "CANCELLED", "TIMEOUT",
                                        "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL", "DEADLINE",
                                        "OUT_OF_MEMORY", "REVOKED"};
    char task[64], state[32], node[REMOTE_HOST_BYTES] = "", why[48] = "";
    struct remote_job *job;
    size_t i = 0;

    if (sscanf(line, "%63[^|]|%31[^|]|%63[^|\n]|%47[^|\n]", task, state, node, why) < 2 &&
        sscanf(line, "%63[^|]|%31[^|]||%47[^|\n]", task, state, why) < 2)
        return;
    while (i < ARRAY_COUNT(ended) && strcmp(state, ended[i]) != 0)
        i++;
    if (i == ARRAY_COUNT(ended)) {
        array.active = true;
        if (strcmp(state, "PENDING") == 0 && sscanf(line, "%*[^|]|%*[^|]||%47[^|\n]", why) == 1)
            snprintf(array.pending, sizeof array.pending, "%s", why);
        return;
    }
    if (!is_number(task) || strtoul(task, NULL, 10) >= array.count)
        return;
    job = array.jobs[strtoul(task, NULL, 10)];
    if (job->waits == false)
        return;
    array.unseen |= i == 0;
    if (remote_machines_find(r->machines, node) != 0)
        job->host = remote_machines_find(r->machines, node);
    snprintf(r->reason, sizeof r->reason, "a task ended as %s on %s", state, node);
}

/* Asks how the tasks are.  Returns 0, minus a signal, or 1: Slurm does not answer. */
static int look(struct remote *r)
{
    const char *const argv[] = {"squeue", "-h",     "-a", "-t",          "all",
                                "-j",     array.id, "-o", "%K|%T|%N|%r", NULL};
    char path[REMOTE_PATH_BYTES], line[256];
    int status = ask(r, argv);
    FILE *in;

    array.active = array.unseen = false;
    array.pending[0] = 0;
    if (status < 0)
        return status;
    in = fopen(file(r, status == 0 ? "tasks/slurm.out" : "tasks/slurm.err", path), "re");
    if (status != 0) { /* Slurm forgets jobs that ended */
        status = in == NULL || fgets(line, sizeof line, in) == NULL ||
                 strstr(line, "Invalid job id") == NULL;
    } else {
        while (in != NULL && fgets(line, sizeof line, in) != NULL)
            take_line(r, line);
    }
    if (in != NULL)
        fclose(in);
    return status;
}

static void show(struct remote *r)
{
    char text[80];

    if (array.pending[0] == 0 || r->good != 0) {
        r->owner->show(r);
        return;
    }
    snprintf(text, sizeof text, "waits in Slurm's queue: %s", array.pending);
    text_escape(text, sizeof text, text);
    progress_show(&r->line, text);
}

static bool is_done(void)
{
    size_t i = 0;

    while (i < array.count && array.jobs[i]->waits == false)
        i++;
    return i == array.count;
}

/* Waits until all tasks ended.  Returns 0, minus a signal, or 1: Slurm does not answer. */
static int wait_all(struct remote *r)
{
    uint64_t asked_ns = monotonic_ns(), since_ns = 0, pause_ms = ASK_FIRST_MS;
    unsigned int lost = 0;
    int status = 0;

    while (!is_done()) {
        status = trial_process_wait(200, &status);
        if (status < 0)
            return status;
        take_all(r);
        show(r);
        if (monotonic_ns() - asked_ns < pause_ms * 1000000)
            continue;
        status = look(r);
        asked_ns = monotonic_ns();
        pause_ms = pause_ms * 5 / 4 < ASK_LAST_MS ? pause_ms * 5 / 4 : ASK_LAST_MS;
        lost = status > 0 ? lost + 1 : 0;
        if (status < 0 || lost == ANSWERS_LOST)
            return status;
        if (status > 0 || array.active)
            continue;
        take_all(r);
        since_ns = since_ns != 0 ? since_ns : asked_ns;
        if (!array.unseen || asked_ns - since_ns > UNSEEN_MS * UINT64_C(1000000))
            break;
    }
    return 0;
}

static int perform_array(struct remote *r, struct run_failure *failure)
{
    char path[REMOTE_PATH_BYTES];
    int status;

    if (submit(r, failure) != 0)
        return -1;
    status = wait_all(r);
    if (status != 0 && status != -SIGHUP) /* then tasks continue; --resume takes what they bring */
        cancel(r);
    if (status < 0)
        return remote_stopped(-status, failure);
    if (status > 0)
        return run_fail(failure, "--slurm: squeue does not answer");
    unlink(file(r, JOBS_FILE, path));
    for (size_t i = 0; i < array.count; i++)
        array.jobs[i]->tries += array.jobs[i]->waits;
    return 0;
}

static int perform(struct remote *r, struct remote_job **jobs, size_t count,
                   struct run_failure *failure)
{
    int result = 0;

    for (size_t at = 0; at < count && result == 0; at += ARRAY_TASKS) {
        array.jobs = jobs + at;
        array.count = count - at < ARRAY_TASKS ? count - at : ARRAY_TASKS;
        if (!is_done())
            result = perform_array(r, failure);
    }
    return result;
}

static void end(struct remote *r)
{
    static const char *const names[] = {"tasks/slurm.sh", "tasks/slurm.out", "tasks/slurm.err"};
    char path[REMOTE_PATH_BYTES], log[40];

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        unlink(file(r, names[i], path));
    for (size_t i = 0; i < ARRAY_TASKS; i++) {
        snprintf(log, sizeof log, "tasks/slurm-%zu.log", i);
        unlink(file(r, log, path));
    }
}

const struct remote_transport remote_slurm = {begin, perform, end};
