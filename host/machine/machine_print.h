/* How `hr stat --machine` shows a machine, and `hr stat --json`. */
#ifndef HOST_MACHINE_MACHINE_PRINT_H
#define HOST_MACHINE_MACHINE_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "host/trace/trace_info.h"

/* For people.  0 or -ENOMEM. */
int machine_print(FILE *out, const struct trace_info *info, const char *path);

/* The object `machine`: facts, cpus, warnings.  NULL without memory. */
json_t *machine_json(const struct trace_info *info);

/* That object alone, and a line end.  0 or -ENOMEM. */
int machine_print_json(FILE *out, const struct trace_info *info);

/* " Warning: ..." when something disturbed the run; the path is where more is said. */
void machine_print_trouble(FILE *out, const struct trace_info *info, const char *path);

#endif
