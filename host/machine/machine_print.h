/* The output of `hr stat --machine`, and the machine in `hr stat --json`. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/trace/trace_info.h"

/* Prints the machine for people.  Returns 0 or -ENOMEM. */
int machine_print(FILE *out, const struct trace_info *info, const char *path);

/* Returns the object `machine`: facts, cpus, warnings.  NULL if out of memory. */
json_t *machine_json(const struct trace_info *info);

/* Prints that object alone, and a line end.  Returns 0 or -ENOMEM. */
int machine_print_json(FILE *out, const struct trace_info *info);

/* Prints " Warning: ..." if something disturbed the run; the path is where to look for details. */
void machine_print_trouble(FILE *out, const struct trace_info *info, const char *path);
