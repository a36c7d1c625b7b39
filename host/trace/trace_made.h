/* What to look up for code that was made at run time: the addresses of processes, and the names
 * that each of them left.  Call trace_names_read first. */
#pragma once

#include "host/trace/trace_info.h"

/* Replaces common addresses of a run of samples (host/trace/trace_spaces.h). */
void trace_made_samples(const struct trace_info *info, struct trace_slot *slots, uint32_t count);

/* Returns what takes the place of a common address in a space, at a time in nanoseconds;
 * UINT64_MAX: at last.  The trace knows processes. */
uint64_t trace_made_address(const struct trace_info *info, uint32_t space, uint64_t common,
                            uint64_t time_ns);
