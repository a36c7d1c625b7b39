/* Performs the runs of a sweep. */
#pragma once

#include <stdbool.h>

#include "host/sweep/sweep_folder.h"

#define SWEEP_TRIES 3u /* of a run that fails, or ends as the first one did not */

/* Runs the program once, which tells the machine's counters and how the program ends, and fills
 * sweep->first and sweep->plan.machine.  The folder is there.  Returns 0, or -1 with the failure
 * filled. */
int sweep_measure_first(struct sweep *sweep, struct run_failure *failure);

/* Performs `count` more such runs, whose traces are not kept. */
int sweep_measure_warm_up(struct sweep *sweep, uint64_t count, struct run_failure *failure);

/* Performs the jobs that wait.  A run that fails again and again is divided into one for each of
 * its events.  `quiet`: no line of progress.  Returns 0, also when runs of single events failed, or
 * -1 with the failure filled: the sweep cannot continue. */
int sweep_measure(struct sweep *sweep, bool quiet, struct run_failure *failure);
