/* The lines under a table that name the events which no performance counter counted. */
#pragma once

#include <stdio.h>

#include "host/trace/trace_info.h"

#define SOURCE_NOTES_ALL UINT32_MAX

/* Prints the lines for `events` (a bit each), each after "# " and `mark`. */
void source_notes_print(FILE *out, const struct trace_info *info, uint32_t events,
                        const char *mark);
