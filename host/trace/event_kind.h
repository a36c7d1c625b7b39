/* What an event counts, as far as its name says: for rates that need to know. */
#ifndef HOST_TRACE_EVENT_KIND_H
#define HOST_TRACE_EVENT_KIND_H

#include <stdbool.h>

#include "host/trace/trace_info.h"

/* The event that counts instructions, or core clock cycles in the same rings; -1: none. */
int event_kind_instructions(const struct trace_info *info);
int event_kind_cycles(const struct trace_info *info);

/* It counts cache lines that came or went: misses and fills of caches, not of TLBs or branches. */
bool event_kind_lines(const char *name);

#endif
