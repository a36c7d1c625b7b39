/* What a machine does that performs a job: it runs an archive and packs what that brought. */
#pragma once

#include "host/remote/remote.h"
#include "host/trial/trial.h"

/* Makes an archive by hr pack, in a place, with those of hr run's options that an archive has.
 * `archive` must be absolute where the place has a directory.  Returns 0, or -1 with the failure
 * filled. */
int remote_task_pack(const struct trial *trial, const char *archive, struct run_failure *failure);

/* Copies the other options, those for running an archive, to `rest`, which has room for all.
 * Returns their number. */
size_t remote_task_rest(char **options, size_t count, char **rest);

struct remote_task {
    const char *folder; /* the owner's, or here */
    const char *name; /* of the job */
    const char *output; /* "-": the parcel is for standard output; NULL: for the folder */
    void *context; /* of run */
    /* Runs the program in a temporary folder.  Returns its exit status, or -1 with the failure
     * filled. */
    int (*run)(struct remote_task *task, const struct trial_files *files,
               struct run_failure *failure);
    char temporary[RUN_CHILD_FOLDER_BYTES];
};

/* Runs it and delivers a parcel.  Returns 0, or -1 with the failure filled. */
int remote_task_perform(struct remote_task *task, struct run_failure *failure);

/* Parses the words of `hr WORD task [-o -] FOLDER JOB`: fills folder, name and output. */
void remote_task_parse(struct remote_task *task, const char *doc, int argc, char **argv);
