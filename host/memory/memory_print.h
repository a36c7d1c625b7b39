/* Prints what is known of the program's pages. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/memory.h"

/* The table: sets, time, ranges.  `limit`: ranges, the largest first; 0: all. */
void memory_print(FILE *out, const struct memory *memory, unsigned long limit);

/* Rows of ranges, or with `by_look` of looks. */
void memory_rows_csv(struct output *out, const struct memory *memory, bool by_look,
                     unsigned long limit);
void memory_rows_json(struct output *out, const struct memory *memory, bool by_look,
                      unsigned long limit);

/* The looks as a table. */
void memory_print_looks(FILE *out, const struct memory *memory, unsigned long limit);
