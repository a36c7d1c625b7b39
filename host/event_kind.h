/* What an event counts, as far as its name says: for rates that need to know. */
#ifndef HOST_EVENT_KIND_H
#define HOST_EVENT_KIND_H

#include <stdbool.h>

#include "host/trace_info.h"

/* The event of that name, which may leave out the :suffix; -1 when there is none. */
int event_kind_find(const struct trace_info *info, const char *name);

/* "a, b, c": the names of a trace's events, for messages.  Raw. */
#define EVENT_KIND_NAMES_BYTES (HR_EVENTS_MAX * 66 + 1)
const char *event_kind_names(const struct trace_info *info, char room[EVENT_KIND_NAMES_BYTES]);

/* The event that counts instructions, or core clock cycles in the same rings; -1: none. */
int event_kind_instructions(const struct trace_info *info);
int event_kind_cycles(const struct trace_info *info);

/* It counts cache lines that came or went: misses and fills of caches, not of TLBs or branches. */
bool event_kind_lines(const char *name);

#endif
