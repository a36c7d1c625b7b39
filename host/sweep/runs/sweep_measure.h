/* Performs the runs of a sweep. */
#pragma once

#include <stdbool.h>

#include "host/base/progress.h"
#include "host/run/run_child.h"
#include "host/sweep/folder/sweep_folder.h"
#include "host/trace/trace_info.h"

#define SWEEP_OUTPUT ".out"
#define SWEEP_ERRORS ".err"
#define SWEEP_PARTIAL ".part" /* a trace that is not known to be good */
#define SWEEP_TRIES REMOTE_TRIES /* of a run that fails, or ends as the first one did not */

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

/* The parts of that, for runs of other machines: */

/* Takes the machine from a trace: its CPU, and which counters the kernel could use.  Returns 0, or
 * -1 with the failure filled. */
int sweep_measure_machine(struct sweep_machine *m, const struct trace_info *info,
                          struct run_failure *failure);

/* Gives the job's partial trace its name.  The program's output is kept where it is not that of the
 * first run.  Returns 0, or -1 with the failure filled. */
int sweep_measure_keep(const struct sweep *sweep, const struct sweep_job *job,
                       struct run_failure *failure);

/* Divides the run of a job that failed each time, or says that its event is not measured.  Returns
 * 0, or -1 with the failure filled. */
int sweep_measure_failed(struct sweep *sweep, size_t number, struct run_failure *failure);

/* Returns what hr run said about a job, as run_child_reason. */
const char *sweep_measure_reason(const struct sweep *sweep, const struct sweep_job *job,
                                 char text[RUN_CHILD_REASON_BYTES]);

/* Shows how many runs are done, and the time that is left as `performed` runs since `start_ns` tell
 * it. */
void sweep_measure_show(struct progress *line, const struct sweep *sweep, size_t done,
                        uint64_t start_ns, size_t performed);
