/* Prints what is known of allocations. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/allocations/memory_groups.h"

enum memory_view { MEMORY_VIEW_ALL, MEMORY_VIEW_PEAK, MEMORY_VIEW_LEAKS };

/* The rows are sorted for the view.  `limit`: of rows; 0: all. */
void memory_allocations_print(FILE *out, struct memory_groups *rows, enum memory_view view,
                              unsigned long limit);
void memory_allocations_csv(struct output *out, struct memory_groups *rows, unsigned long limit);
void memory_allocations_json(struct output *out, struct memory_groups *rows, unsigned long limit);
