/* What is common to the ways to reach other machines. */
#include "host/remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/monotonic.h"
#include "host/base/text.h"
#include "host/trial/trial_process.h"
#include "include/version.h"

char *remote_path(const struct remote *r, const char *name, char path[REMOTE_PATH_BYTES])
{
    snprintf(path, REMOTE_PATH_BYTES, "%.4000s/%.190s", r->folder, name);
    return path;
}

char *remote_job_path(const struct remote *r, const struct remote_job *job, const char *ending,
                      char path[REMOTE_PATH_BYTES])
{
    char task[REMOTE_NAME_BYTES], name[REMOTE_NAME_BYTES + 40];

    snprintf(name, sizeof name, "tasks/%s%.30s", r->owner->name(r, job, task), ending);
    return remote_path(r, name, path);
}

const char *remote_job_host(const struct remote *r, const struct remote_job *job)
{
    return remote_machines_name(r->machines, job->host);
}

int remote_write_file(const char *path, const char *text, struct run_failure *failure)
{
    char partial[REMOTE_PATH_BYTES + 8];
    FILE *file;
    bool good;

    snprintf(partial, sizeof partial, "%s.part", path);
    file = fopen(partial, "we");
    good = file != NULL && fputs(text, file) >= 0;
    if (file != NULL)
        good &= fclose(file) == 0;
    if (good && rename(partial, path) == 0)
        return 0;
    run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
    unlink(partial);
    return -1;
}

int remote_stopped(int number, struct run_failure *failure)
{
    return run_fail_as(failure, RUN_EXIT_SIGNAL_BASE + number, "ended by %s", strsignal(number));
}

size_t remote_words(char *text, const char **list, size_t room)
{
    size_t count = 0;
    char *rest;

    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < room;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    return count;
}

size_t remote_count(const char *text)
{
    size_t count = 0;

    for (text += strspn(text, " "); *text != 0; text += strspn(text, " ")) {
        text += strcspn(text, " ");
        count++;
    }
    return count;
}

void remote_leave_out(struct remote *r, const char *host)
{
    char name[REMOTE_HOST_BYTES * 4];

    progress_erase(&r->line);
    error_print("%s is left out: %s", text_escape(name, sizeof name, host), r->reason);
}

/* Believes nothing of the parcel but what is checked. */
static enum remote_taken take_parcel(struct remote *r, struct remote_job *job, const char *file,
                                     const char *host, struct run_failure *failure)
{
    char paths[REMOTE_PARTS][REMOTE_PATH_BYTES], list[REMOTE_PATH_BYTES];
    const char *const parts[REMOTE_PARTS] = {paths[0], paths[1], paths[2]};
    struct remote_parcel parcel;

    r->owner->parts(r, job, paths);
    if (remote_parcel_read(&parcel, file, parts, failure) != 0)
        return REMOTE_TAKEN_NOTHING;
    if (host != NULL) {
        memset(parcel.host, 0, sizeof parcel.host);
        snprintf(parcel.host, sizeof parcel.host, "%.60s", host);
    }
    if (strcmp(parcel.version, VERSION_TEXT) != 0) {
        run_fail(failure, "it has hr %s, and this is hr " VERSION_TEXT, parcel.version);
        return REMOTE_TAKEN_OTHER;
    }
    job->host =
        remote_machines_note(r->machines, remote_path(r, REMOTE_MACHINES, list), &parcel, failure);
    if (job->host == 0)
        return REMOTE_TAKEN_NOTHING;
    return r->owner->accept(r, job, &parcel, failure);
}

enum remote_taken remote_take(struct remote *r, struct remote_job *job, const char *parcel,
                              const char *host)
{
    struct run_failure failure = {0};
    enum remote_taken taken = take_parcel(r, job, parcel, host, &failure);

    unlink(parcel);
    if (failure.text[0] != 0)
        snprintf(r->reason, sizeof r->reason, "%.390s", failure.text);
    r->good += taken == REMOTE_TAKEN;
    job->tries += taken == REMOTE_TAKEN_FAILED;
    return taken;
}

int remote_begin(struct remote *r, bool quiet, struct run_failure *failure)
{
    r->transport = r->where->hosts != NULL ? &remote_ssh : &remote_slurm;
    r->start_ns = monotonic_ns();
    progress_init(&r->line, !quiet, r->start_ns);
    trial_process_begin();
    return r->transport->begin(r, failure);
}

void remote_end(struct remote *r)
{
    if (r->transport == NULL)
        return;
    progress_erase(&r->line);
    r->transport->end(r);
    trial_process_end();
}
