/* Finds what is probed by its name, for who reads distributions without `hr latency`. */
#pragma once

#include "host/trace/trace_points.h"

/* Returns the number of a function or place that a trace describes, or TRACE_POINTS_NONE.  Its name
 * is the symbol's, or the demangled one with or without parameters. */
uint32_t latency_find(const struct trace_points *points, const char *name);

/* Returns its name for people, demangled where it can be; raw (escape it).  The caller frees it;
 * NULL: no memory. */
char *latency_find_label(const struct trace_points *points, uint32_t function);
