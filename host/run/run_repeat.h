/* hr run --repeat: repeats a run and reports how much the runs differ. */
#pragma once

#include <stdbool.h>

#include "host/options/options.h"

/* Performs one run.  Returns its exit status, or -1 with the failure filled.  `*stopped`: no
 * further run should follow. */
typedef int run_repeat_once(const struct options *o, bool *stopped, struct run_failure *failure);

/* Runs o->repeat times and prints the spread.  Returns the first exit status that is not 0, or 0;
 * -1 with the failure filled if a run could not be performed. */
int run_repeat(const struct options *o, run_repeat_once *once, struct run_failure *failure);
