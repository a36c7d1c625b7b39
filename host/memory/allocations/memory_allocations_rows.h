/* Names of rows of allocations.  For host/memory/allocations/memory_allocations.c. */
#pragma once

#include "host/memory/allocations/memory_groups.h"

/* Returns what a row is called, raw: a place, a size or a thread. */
const char *memory_allocations_name(const struct memory_groups *rows,
                                    const struct memory_group *row, char room[MEMORY_WHERE_BYTES]);

/* Returns the title of a column of such names. */
const char *memory_allocations_word(enum memory_by by);
