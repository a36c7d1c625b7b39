/* Tells from its name what an event counts, for rates that depend on it. */
#pragma once

#include <stdbool.h>

#include "host/trace/trace_info.h"

/* Return the number of the event that counts instructions, or core clock cycles in the same rings;
 * -1 if there is none. */
int event_kind_instructions(const struct trace_info *info);
int event_kind_cycles(const struct trace_info *info);

/* Returns whether the event counts transferred cache lines: misses and fills of caches, not of TLBs
 * or branches. */
bool event_kind_lines(const char *name);
