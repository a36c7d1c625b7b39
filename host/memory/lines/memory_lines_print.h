/* Prints the cache lines that threads share. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/lines/memory_lines.h"

/* `limit`: lines; 0: all. */
void memory_lines_print(FILE *out, const struct memory_lines *lines, unsigned long limit);
void memory_lines_print_csv(struct output *out, const struct memory_lines *lines,
                            unsigned long limit);
void memory_lines_print_json(struct output *out, const struct memory_lines *lines,
                             unsigned long limit);
