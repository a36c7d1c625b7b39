/* The lines under a table that say which events no performance counter counted. */
#ifndef HOST_SOURCE_NOTES_H
#define HOST_SOURCE_NOTES_H

#include <stdio.h>

#include "host/trace_info.h"

/* "# " and `mark` before each line. */
void source_notes_print(FILE *out, const struct trace_info *info, const char *mark);

#endif
