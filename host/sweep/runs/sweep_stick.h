/* Sweeps by machines that start from a stick.
 *
 * Nothing asks such a machine before the plan: it is made for a processor that is named, or that a
 * trace tells.  The stick has the program once, with a set of events for each run; its runs are
 * repetitions of that archive: number 1 is the first run, number N + 2 is job N, on every stick of
 * a sweep.  So a result tells its job, and a stick that is written later leaves out what is done.
 */
#pragma once

#include "host/sweep/folder/sweep_folder.h"
#include "host/trace/trace_info.h"

#define SWEEP_STICK_FIRST 1u
#define SWEEP_STICK_JOBS 2u /* number of job 0 */

/* Fills sweep->plan.machine from `target`: the path of a trace of the machine, a processor as for
 * hr pack --target-cpu, or a table of libpfm4; and gives the sweep a name of its own.  Returns 0,
 * or -1 with the failure filled. */
int sweep_stick_target(struct sweep *sweep, const char *target, struct run_failure *failure);

/* Checks that the plan is for the machine of a first run.  Returns 0, or -1 with the failure
 * filled.
 */
int sweep_stick_check(const struct sweep *sweep, const struct trace_info *info,
                      struct run_failure *failure);

/* Writes the name of the sweep's runs on its sticks, "sweep-1234abcd", and returns it. */
#define SWEEP_STICK_NAME_BYTES 24
char *sweep_stick_name(const struct sweep *sweep, char name[SWEEP_STICK_NAME_BYTES]);

/* Writes a stick with the runs that wait, by hr usb.  Returns 0, or -1 with the failure filled. */
int sweep_stick_write(const struct sweep *sweep, struct run_failure *failure);

/* Writes the archive of such a stick to `path`.  Returns 0, or -1 with the failure filled. */
int sweep_stick_pack(const struct sweep *sweep, const char *path, struct run_failure *failure);

/* The number of jobs that wait, the first run included. */
size_t sweep_stick_waiting(const struct sweep *sweep);
