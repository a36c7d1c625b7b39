/* Performs hr sweep: the plan, the runs, the results. */
#pragma once

#include "host/sweep/sweep_options.h"

/* Plans and performs the runs, or writes them onto a stick, and shows what they measured.  Returns
 * the exit status. */
int sweep_perform(const struct sweep_options *o);

/* Makes the database of the runs that are there, and shows it.  Returns the exit status. */
int sweep_conclude(const struct sweep *sweep, uint64_t bins, bool quiet);
