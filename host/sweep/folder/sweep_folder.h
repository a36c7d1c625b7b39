/* The folder of a sweep: what is to be run, what was run, and its traces.
 *
 *   sweep.json     the program, the options, the events and which run counts which
 *   jobs.csv       a line for each run that ended
 *   runs/          the traces: first.hr, then RUN-REPETITION.hr
 *   hosts.csv      other machines that performed runs: name, Linux, processor
 *   program.cpio   the program with its files, for them
 *   tasks/         what they bring, until it is taken: JOB.parcel
 *   sweep.db       what hr sweep made of them (host/sweep/database/sweep_merge.h)
 *
 * Every file may have been changed by anybody.  Never prints.
 */
#pragma once

#include "host/remote/remote.h"
#include "host/sweep/plan/sweep_plan.h"
#include "host/trial/trial.h"

#define SWEEP_ARCHIVE "program.cpio"
#define SWEEP_PATH_BYTES 4200
#define SWEEP_REPEAT_MAX 1000u
#define SWEEP_EVENTS_MAX 16384u
#define SWEEP_JOBS_MAX 1000000u
#define SWEEP_VERSION 1 /* of sweep.json */
#define SWEEP_FIRST UINT32_MAX /* in jobs.csv, in place of a run: the first run */

enum sweep_state { SWEEP_WAITS, SWEEP_DONE, SWEEP_FAILED };

struct sweep_job { /* one repetition of one run */
    struct remote_job remote; /* at first: host/sweep/runs/sweep_remote.c has it in hand */
    uint32_t run;
    uint32_t repetition;
    enum sweep_state state;
    int status; /* the exit status of hr run */
    struct trial_output output;
};

struct sweep {
    char folder[SWEEP_PATH_BYTES - 200];
    struct sweep_plan plan;
    char **program; /* with its arguments; owned */
    size_t program_count;
    char **options; /* of hr run; owned */
    size_t option_count;
    struct remote_where where;
    struct remote_machines machines;
    char *usb; /* the stick that performs the runs, or an image of one; owned, NULL: none */
    char *usb_options; /* for hr usb; owned, or NULL */
    uint64_t repeat;
    uint64_t seed; /* of the order of the jobs */
    uint32_t stick; /* names the sweep on its sticks; 0: it has none */
    struct sweep_job first; /* the run that told the machine, and how the program ends */
    struct sweep_job *jobs; /* in their order; owned */
    size_t job_count;
};

void sweep_free(struct sweep *sweep);

/* Makes the jobs of the plan's runs, in a random order that depends on the seed alone.  Returns 0
 * or -ENOMEM. */
int sweep_make_jobs(struct sweep *sweep);

/* Appends the jobs of the plan's run `run`.  Returns 0 or -ENOMEM. */
int sweep_add_jobs(struct sweep *sweep, uint32_t run);

/* Makes the folder, which must not be there or be empty.  Returns 0, or -1 with the failure filled.
 */
int sweep_folder_make(const struct sweep *sweep, struct run_failure *failure);

/* Removes the folder of a sweep that did not begin, with what the first run left there. */
void sweep_folder_remove(const struct sweep *sweep);

/* Replace sweep.json, and append a line about a job that ended.  Return 0, or -1 with the failure
 * filled. */
int sweep_folder_save(const struct sweep *sweep, struct run_failure *failure);
int sweep_folder_note(const struct sweep *sweep, const struct sweep_job *job,
                      struct run_failure *failure);

/* Returns the name of the machine where a job ran; "": here. */
const char *sweep_job_host(const struct sweep *sweep, const struct sweep_job *job);

/* Reads the folder `sweep->folder`.  Jobs whose line or trace is missing wait, as do those of
 * single events that failed; what failed of several was divided.  Returns 0, or -1 with the failure
 * filled. */
int sweep_folder_load(struct sweep *sweep, struct run_failure *failure);

/* Write the path of a job's trace, and with another ending, such as ".out".  Return `path`. */
char *sweep_job_path(const struct sweep *sweep, const struct sweep_job *job, const char *ending,
                     char path[SWEEP_PATH_BYTES]);
#define SWEEP_TRACE ".hr"

/* Writes "folder/name" and returns `path`. */
char *sweep_path(const struct sweep *sweep, const char *name, char path[SWEEP_PATH_BYTES]);
