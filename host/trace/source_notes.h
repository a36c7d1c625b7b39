/* The lines under a table that say which events no performance counter counted. */
#ifndef HOST_TRACE_SOURCE_NOTES_H
#define HOST_TRACE_SOURCE_NOTES_H

#include <stdio.h>

#include "host/trace/trace_info.h"

#define SOURCE_NOTES_ALL UINT32_MAX

/* Of the events in `events` (a bit each), "# " and `mark` before each line. */
void source_notes_print(FILE *out, const struct trace_info *info, uint32_t events,
                        const char *mark);

#endif
