/* Which files of the host differ between two runs that read them. */
#pragma once

#include <stdio.h>

#include "host/trace/trace_info.h"

/* Prints a line for each file that is not the same, ten at most, and then how many more there are.
 * Both are sorted. */
void diff_files_print(FILE *out, const struct trace_files *before, const struct trace_files *after);
