/* Performs runs on other machines, by ssh or by Slurm, for commands that need many.
 *
 * The owner has a folder with a folder tasks/ in it, and jobs, each with a name that a shell takes
 * as it is.  `hr OWNER task -o - . NAME` performs a job there by what it is given; by Slurm
 * `hr OWNER task FOLDER NAME` does in the folder, which machines share.  What comes back is a
 * parcel (host/remote/remote_parcel.h).
 */
#pragma once

#include <stdbool.h>

#include "host/base/progress.h"
#include "host/remote/remote_machines.h"
#include "host/remote/remote_where.h"

#define REMOTE_PATH_BYTES 4200
#define REMOTE_NAME_BYTES 80 /* of a job */
#define REMOTE_PARCEL ".parcel"
#define REMOTE_TRIES 3u /* of a job that fails */

struct remote_job {
    bool waits; /* it is to be performed */
    uint32_t host; /* its number plus 1 where it ran at last; 0: here, or nowhere yet */
    uint32_t tries; /* that failed on other machines */
};

struct remote;

enum remote_taken {
    REMOTE_TAKEN,
    REMOTE_TAKEN_FAILED, /* the run failed there: another try may help */
    REMOTE_TAKEN_NOTHING, /* it is no result */
    REMOTE_TAKEN_OTHER, /* the machine is no match */
};

struct remote_owner {
    const char *word; /* the command of hr */
    const char *program; /* a file of the folder that a machine gets at first; NULL: none */
    const char *input; /* what a job's input is called there */
    /* Writes the path of the file that a job gets as its input. */
    void (*input_path)(const struct remote *r, const struct remote_job *job,
                       char path[REMOTE_PATH_BYTES]);
    /* Writes a job's name and returns it. */
    char *(*name)(const struct remote *r, const struct remote_job *job,
                  char name[REMOTE_NAME_BYTES]);
    /* Returns the job of a name; NULL: there is none. */
    struct remote_job *(*find)(const struct remote *r, const char *name);
    /* Writes where the parts of a job's parcel are unpacked. */
    void (*parts)(const struct remote *r, const struct remote_job *job,
                  char paths[REMOTE_PARTS][REMOTE_PATH_BYTES]);
    /* Takes a job's unpacked parcel, believing nothing of it, and sets job->waits to false if it is
     * good; else fills r->reason, or the failure. */
    enum remote_taken (*accept)(struct remote *r, struct remote_job *job,
                                const struct remote_parcel *parcel, struct run_failure *failure);
    void (*show)(struct remote *r); /* the progress, on r->line */
};

struct remote_transport {
    /* Makes ready.  Returns 0, or -1 with the failure filled. */
    int (*begin)(struct remote *r, struct run_failure *failure);
    /* Tries each of these jobs once (the list is its own), hands what comes back to remote_take,
     * and does without machines that do not work.  Returns 0, or -1 with the failure filled: it
     * cannot continue. */
    int (*perform)(struct remote *r, struct remote_job **jobs, size_t count,
                   struct run_failure *failure);
    void (*end)(struct remote *r);
};
extern const struct remote_transport remote_ssh, remote_slurm;

struct remote {
    const struct remote_owner *owner;
    const struct remote_transport *transport;
    const struct remote_where *where;
    const char *folder;
    struct remote_machines *machines; /* owned by the owner */
    char reason[400]; /* why the last run or machine failed, for people */
    size_t good; /* runs that were taken */
    struct progress line;
    uint64_t start_ns;
};

/* Makes ready; the owner filled owner, where, folder and machines.  Returns 0, or -1 with the
 * failure filled; call remote_end after it in any case. */
int remote_begin(struct remote *r, bool quiet, struct run_failure *failure);
void remote_end(struct remote *r);

/* Takes a job's parcel and removes it.  `host` names the machine; NULL: the parcel does.  Sets
 * r->reason unless it returns REMOTE_TAKEN. */
enum remote_taken remote_take(struct remote *r, struct remote_job *job, const char *parcel,
                              const char *host);

/* Says on stderr that a machine is left out from now on, because of r->reason. */
void remote_leave_out(struct remote *r, const char *host);

/* Returns the name of the machine where a job ran; "": here. */
const char *remote_job_host(const struct remote *r, const struct remote_job *job);

/* Write "folder/name", and "folder/tasks/NAMEending" of a job.  Return `path`. */
char *remote_path(const struct remote *r, const char *name, char path[REMOTE_PATH_BYTES]);
char *remote_job_path(const struct remote *r, const struct remote_job *job, const char *ending,
                      char path[REMOTE_PATH_BYTES]);

/* Replaces a file by a text.  Returns 0, or -1 with the failure filled. */
int remote_write_file(const char *path, const char *text, struct run_failure *failure);

/* Fills the failure: a signal ended hr. */
int remote_stopped(int number, struct run_failure *failure);

/* Divides a text into words at blanks, appended to `list`.  Returns their number. */
size_t remote_words(char *text, const char **list, size_t room);

/* Returns the number of a text's words. */
size_t remote_count(const char *text);
