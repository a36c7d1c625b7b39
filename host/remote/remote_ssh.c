/* Performs runs on machines that ssh reaches, one at a time on each. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/remote/remote.h"
#include "host/run/run_child.h"
#include "host/trial/trial_process.h"

#define HOSTS_MAX 256u
#define SSH_WORDS 32
#define SSH_DEFAULT "ssh -o BatchMode=yes"
#define HR_DEFAULT "hr"
#define FOLDER_MARK "/microtome-"
#define PID_FILE "hr.pid"

enum host_state { HOST_NEW, HOST_PREPARES, HOST_IDLE, HOST_BUSY, HOST_GONE };

struct host {
    const char *name;
    enum host_state state;
    pid_t pid; /* of its ssh */
    struct remote_job *job;
    char folder[200]; /* there, with the archive */
};

static struct {
    char *list, *ssh; /* owned; the words point into them */
    const char *words[SSH_WORDS];
    size_t word_count;
    struct host hosts[HOSTS_MAX];
    size_t count;
} all;

static int begin(struct remote *r, struct run_failure *failure)
{
    const struct remote_where *where = r->where;
    char *rest;

    all.list = strdup(where->hosts);
    all.ssh = strdup(where->ssh != NULL ? where->ssh : SSH_DEFAULT);
    if (all.list == NULL || all.ssh == NULL)
        return run_fail(failure, "out of memory; end other programs");
    all.word_count = remote_words(all.ssh, all.words, SSH_WORDS);
    if (where->hr != NULL && strchr(where->hr, '\'') != NULL) /* that of a folder */
        return run_fail(failure, "--hr: a path with a quotation mark");
    if (all.word_count == 0 || remote_count(where->ssh != NULL ? where->ssh : "") > SSH_WORDS)
        return run_fail(failure, "--ssh: name a command of at most %d words", SSH_WORDS);
    for (char *name = strtok_r(all.list, ", ", &rest); name != NULL;
         name = strtok_r(NULL, ", ", &rest)) {
        if (name[0] == '-')
            return run_fail(failure, "--hosts: '%s' is no name of a machine", name);
        if (all.count == HOSTS_MAX)
            return run_fail(failure, "--hosts: more than %u machines", HOSTS_MAX);
        all.hosts[all.count++] = (struct host){.name = name};
    }
    return all.count != 0 ? 0 : run_fail(failure, "--hosts: no machine is named");
}

/* Files of a host's ssh: what it prints, and what it says. */
static char *host_path(const struct remote *r, const struct host *h, const char *ending,
                       char path[REMOTE_PATH_BYTES])
{
    char name[64];

    snprintf(name, sizeof name, "tasks/host-%zu%s", (size_t)(h - all.hosts), ending);
    return remote_path(r, name, path);
}

/* The command as one word of sh, for a login shell of any kind: csh and fish have no d=$(...). */
static char *write_for_sh(const char *command)
{
    char *text = malloc(sizeof "exec sh -c ''" + 4 * strlen(command)), *end = text;

    if (text == NULL)
        return NULL;
    end = stpcpy(end, "exec sh -c '");
    for (const char *c = command; *c != 0; c++)
        end = *c == '\'' ? stpcpy(end, "'\\''") : stpncpy(end, c, 1);
    strcpy(end, "'");
    return text;
}

static pid_t start(struct remote *r, const struct host *h, const char *command, const char *input)
{
    const char *argv[SSH_WORDS + 3];
    char out[REMOTE_PATH_BYTES], errors[REMOTE_PATH_BYTES];
    char *text = write_for_sh(command);
    pid_t pid;

    if (text == NULL)
        return -ENOMEM;
    memcpy(argv, all.words, all.word_count * sizeof argv[0]);
    argv[all.word_count] = h->name;
    argv[all.word_count + 1] = text;
    argv[all.word_count + 2] = NULL;
    pid = trial_process_start(argv, input, host_path(r, h, ".out", out),
                              host_path(r, h, ".err", errors));
    free(text);
    return pid;
}

static void leave_out(struct remote *r, struct host *h)
{
    h->state = HOST_GONE;
    remote_leave_out(r, h->name);
}

static void begin_state(struct remote *r, struct host *h, enum host_state state,
                        const char *command, const char *input)
{
    h->state = state;
    h->pid = start(r, h, command, input);
    if (h->pid > 0)
        return;
    snprintf(r->reason, sizeof r->reason, "%s cannot be started: %s", all.words[0],
             strerror((int)-h->pid));
    leave_out(r, h);
}

/* Where ssh ends early, the folder is removed: its name does not arrive here. */
static void prepare(struct remote *r, struct host *h)
{
    const char *program = r->owner->program;
    char command[400], path[REMOTE_PATH_BYTES];

    snprintf(command, sizeof command,
             "umask 077; trap '' PIPE HUP; "
             "d=$(mktemp -d \"${TMPDIR:-/tmp}" FOLDER_MARK "%s.XXXXXXXX\") && "
             "cat >\"$d/%s\" && echo \"$d\" || { rm -rf \"$d\"; exit 1; }",
             r->owner->word, program != NULL ? program : PID_FILE);
    begin_state(r, h, HOST_PREPARES, command,
                program != NULL ? remote_path(r, program, path) : NULL);
}

static void perform_job(struct remote *r, struct host *h, struct remote_job *job)
{
    const char *hr = r->where->hr != NULL ? r->where->hr : HR_DEFAULT;
    char command[5000], name[REMOTE_NAME_BYTES], path[REMOTE_PATH_BYTES];

    r->owner->input_path(r, job, path);
    snprintf(command, sizeof command,
             "cd %s && echo $$ >" PID_FILE " && cat >%s && exec '%.4000s' %s task -o - . %s",
             h->folder, r->owner->input, hr, r->owner->word, r->owner->name(r, job, name));
    h->job = job;
    begin_state(r, h, HOST_BUSY, command, path);
}

/* Takes what ssh said as the reason. */
static void take_reason(struct remote *r, const struct host *h, int status)
{
    char path[REMOTE_PATH_BYTES], text[RUN_CHILD_REASON_BYTES];

    snprintf(r->reason, sizeof r->reason, "%s ended with status %d: %s", all.words[0], status,
             run_child_reason(host_path(r, h, ".err", path), text));
}

/* The folder comes from there, and returns in commands. */
static void take_folder(struct remote *r, struct host *h, int status)
{
    char path[REMOTE_PATH_BYTES];
    FILE *file = fopen(host_path(r, h, ".out", path), "re");
    bool good = file != NULL && fgets(h->folder, sizeof h->folder, file) != NULL;

    if (file != NULL)
        fclose(file);
    unlink(path);
    h->folder[strcspn(h->folder, "\n")] = 0;
    good = good && status == 0 && h->folder[0] == '/' && strstr(h->folder, FOLDER_MARK) != NULL &&
           strstr(h->folder, "..") == NULL;
    for (const char *c = h->folder; *c != 0; c++)
        good = good && (isalnum((unsigned char)*c) || strchr("/._-", *c) != NULL);
    h->state = HOST_IDLE;
    if (good)
        return;
    h->folder[0] = 0;
    if (status == 0)
        snprintf(r->reason, sizeof r->reason,
                 "it printed no folder first; let its shell print nothing when it starts");
    else
        take_reason(r, h, status);
    leave_out(r, h);
}

static void take_result(struct remote *r, struct host *h, int status)
{
    char path[REMOTE_PATH_BYTES];
    enum remote_taken taken = REMOTE_TAKEN_NOTHING;

    host_path(r, h, ".out", path);
    h->state = HOST_IDLE;
    if (status == 0)
        taken = remote_take(r, h->job, path, h->name);
    else
        take_reason(r, h, status);
    if (taken == REMOTE_TAKEN_NOTHING || taken == REMOTE_TAKEN_OTHER)
        leave_out(r, h);
}

static size_t count_state(enum host_state from, enum host_state to)
{
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++)
        count += all.hosts[i].state >= from && all.hosts[i].state <= to;
    return count;
}

/* A job that failed on a machine is for another one, if there is one. */
static bool suits(const struct remote *r, const struct host *h, const struct remote_job *job)
{
    return job != NULL && (job->tries == 0 || count_state(HOST_NEW, HOST_BUSY) == 1 ||
                           strcmp(remote_job_host(r, job), h->name) != 0);
}

static void start_all(struct remote *r, struct remote_job **jobs, size_t count)
{
    for (struct host *h = all.hosts; h < all.hosts + all.count; h++) {
        size_t i = 0;

        if (h->state == HOST_NEW)
            prepare(r, h);
        while (h->state == HOST_IDLE && i < count && !suits(r, h, jobs[i]))
            i++;
        if (h->state != HOST_IDLE || i == count)
            continue;
        perform_job(r, h, jobs[i]);
        jobs[i] = NULL;
    }
}

static void take_end(struct remote *r, pid_t pid, int status)
{
    for (struct host *h = all.hosts; h < all.hosts + all.count; h++) {
        if (h->pid != pid)
            continue;
        if (h->state == HOST_PREPARES)
            take_folder(r, h, status);
        else if (h->state == HOST_BUSY)
            take_result(r, h, status);
    }
}

static int perform(struct remote *r, struct remote_job **jobs, size_t count,
                   struct run_failure *failure)
{
    for (;;) {
        int status;
        pid_t pid;

        start_all(r, jobs, count);
        if (count_state(HOST_PREPARES, HOST_PREPARES) + count_state(HOST_BUSY, HOST_BUSY) == 0)
            break;
        r->owner->show(r);
        pid = trial_process_wait(1000, &status);
        if (pid < 0)
            return remote_stopped(-pid, failure);
        if (pid > 0)
            take_end(r, pid, status);
    }
    if (count_state(HOST_GONE, HOST_GONE) == all.count)
        return run_fail(failure, "no machine is left: %s", r->reason);
    return 0;
}

/* A run there does not end with its ssh.  The number may be that of a run which ended, and so of
 * another process by now: ours has the folder as its own. */
static void clean(struct remote *r, struct host *h)
{
    char command[3 * sizeof h->folder + 100];

    if (h->state == HOST_PREPARES || h->state == HOST_BUSY)
        kill(h->pid, SIGTERM);
    h->pid = -1;
    if (h->folder[0] == 0)
        return;
    snprintf(command, sizeof command,
             "p=$(cat %s/" PID_FILE ") && [ /proc/$p/cwd -ef %s ] && kill $p; rm -rf %s", h->folder,
             h->folder, h->folder);
    h->pid = start(r, h, command, NULL);
}

static void end(struct remote *r)
{
    char path[REMOTE_PATH_BYTES];
    int status;

    for (struct host *h = all.hosts; h < all.hosts + all.count; h++)
        clean(r, h);
    for (struct host *h = all.hosts; h < all.hosts + all.count; h++) {
        for (int i = 0; i < 50 && h->pid > 0 && kill(h->pid, 0) == 0; i++)
            trial_process_wait(100, &status);
        unlink(host_path(r, h, ".out", path));
        unlink(host_path(r, h, ".err", path));
    }
    free(all.list);
    free(all.ssh);
}

const struct remote_transport remote_ssh = {begin, perform, end};
