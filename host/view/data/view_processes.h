/* The trace's processes for the page. */
#pragma once

#include <jansson.h>

#include "host/trace/trace_info.h"

#define VIEW_PROCESSES_MAX 4096u /* further ones have no lane */

/* An array of {pid, parent, name, names, start, end, ending}: `parent` is a pid, `names` says when
 * ([tick, name]) it began to run other programs, times are in ticks since the program's start;
 * unknown ones are null.  Empty where the trace tells of no processes. */
json_t *view_processes(const struct trace_info *info);
