/* hr run --repeat: the same run several times, and how far the runs are apart. */
#ifndef HOST_RUN_RUN_REPEAT_H
#define HOST_RUN_RUN_REPEAT_H

#include <stdbool.h>

#include "host/options/options.h"

/* One run: its exit status, or -1 with the failure filled.  `*stopped`: no other one is to follow.
 */
typedef int run_repeat_once(const struct options *o, bool *stopped, struct run_failure *failure);

/* Runs o->repeat times and prints the spread.  The first exit status that is not 0, or 0; -1 with
 * the failure filled when a run could not be made.
 */
int run_repeat(const struct options *o, run_repeat_once *once, struct run_failure *failure);

#endif
