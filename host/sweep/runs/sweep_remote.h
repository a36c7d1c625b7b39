/* Performs the runs of a sweep on other machines, by ssh or by Slurm. */
#pragma once

#include <stdbool.h>

#include "host/sweep/runs/sweep_measure.h"

struct sweep_remote;

struct sweep_transport {
    /* Makes ready.  Returns 0, or -1 with the failure filled. */
    int (*begin)(struct sweep_remote *r, struct run_failure *failure);
    /* Tries each of these jobs once (the list is its own), hands what comes back to
     * sweep_remote_take, and does without machines that do not work.  Returns 0, or -1 with the
     * failure filled: it cannot continue. */
    int (*perform)(struct sweep_remote *r, struct sweep_job **jobs, size_t count,
                   struct run_failure *failure);
    void (*end)(struct sweep_remote *r);
};
extern const struct sweep_transport sweep_hosts, sweep_slurm;

struct sweep_remote {
    struct sweep *sweep;
    const struct sweep_transport *transport;
    char machine[256]; /* what the first run said of its processor; "": there was none yet */
    char reason[400]; /* why the last run or machine failed, for people */
    size_t good; /* runs that were taken */
    bool quiet;
    struct progress line;
    uint64_t start_ns;
};

/* The steps of a sweep, as sweep_measure_first and sweep_measure.  Begin packs the program, unless
 * the folder has it, and checks that there is a first run where the sweep is continued.  Return 0,
 * or -1 with the failure filled; call end after begin in any case. */
int sweep_remote_begin(struct sweep_remote *r, struct sweep *sweep, bool quiet,
                       struct run_failure *failure);
int sweep_remote_first(struct sweep_remote *r, struct run_failure *failure);
int sweep_remote_measure(struct sweep_remote *r, struct run_failure *failure);
void sweep_remote_end(struct sweep_remote *r);

enum sweep_taken {
    SWEEP_TAKEN,
    SWEEP_TAKEN_FAILED, /* the run failed there: another try may help */
    SWEEP_TAKEN_NOTHING, /* it is no result */
    SWEEP_TAKEN_OTHER, /* the machine is no match for the sweep */
};

/* Takes a job's parcel and removes it.  `host` names the machine; NULL: the parcel does.  Sets
 * r->reason unless it returns SWEEP_TAKEN. */
enum sweep_taken sweep_remote_take(struct sweep_remote *r, struct sweep_job *job,
                                   const char *parcel, const char *host);

/* Says on stderr that a machine is left out from now on, because of r->reason. */
void sweep_remote_leave_out(struct sweep_remote *r, const char *host);

/* Shows the progress. */
void sweep_remote_show(struct sweep_remote *r);

/* Writes "folder/tasks/NAME.ENDING" of a job and returns `path`. */
char *sweep_remote_path(const struct sweep_remote *r, const struct sweep_job *job,
                        const char *ending, char path[SWEEP_PATH_BYTES]);

/* Fills the failure: a signal ended hr. */
int sweep_remote_stopped(int number, struct run_failure *failure);

/* Divides a text into words at blanks, appended to `list`.  Returns their number. */
size_t sweep_remote_words(char *text, const char **list, size_t room);

/* Returns the number of a text's words. */
size_t sweep_remote_count(const char *text);
