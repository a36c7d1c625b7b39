/* Names of the functions of instrumented programs (HR_META_CALLED), which the trace gives by
 * address alone. */
#pragma once

#include "host/symbols/symbols.h"

/* Names the functions of `info`, which holds the whole trace's metadata, and gives the points of
 * functions that have one name and file, in several processes for example, to one of them.  Does
 * nothing for other traces.  Never prints.  Returns 0 or -ENOMEM. */
int called_name(struct trace_info *info, const struct symbols_options *options);
