/* Performs the runs of a sweep on other machines. */
#pragma once

#include "host/remote/remote.h"
#include "host/sweep/runs/sweep_measure.h"

struct sweep_remote {
    struct remote remote; /* at first */
    struct sweep *sweep;
    char machine[256]; /* what the first run said of its processor; "": there was none yet */
};

/* The steps of a sweep, as sweep_measure_first and sweep_measure.  Begin packs the program, unless
 * the folder has it, and checks that there is a first run where the sweep is continued.  Return 0,
 * or -1 with the failure filled; call end after begin in any case. */
int sweep_remote_begin(struct sweep_remote *r, struct sweep *sweep, bool quiet,
                       struct run_failure *failure);
int sweep_remote_first(struct sweep_remote *r, struct run_failure *failure);
int sweep_remote_measure(struct sweep_remote *r, struct run_failure *failure);
void sweep_remote_end(struct sweep_remote *r);

/* For runs that come in another way: recalls the machine of the first run, if that was taken; takes
 * a job whose parts are unpacked, believing nothing of it. */
int sweep_remote_recall(struct sweep_remote *r, struct run_failure *failure);
enum remote_taken sweep_remote_accept(struct sweep_remote *r, struct sweep_job *job,
                                      const struct remote_parcel *parcel,
                                      struct run_failure *failure);
