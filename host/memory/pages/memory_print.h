/* Prints what is known of the program's pages. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/pages/memory.h"

enum memory_rows { MEMORY_RANGES, MEMORY_LOOKS, MEMORY_TOUCHERS };

/* The table: sets, time, ranges.  `limit`: ranges, the largest first; 0: all. */
void memory_print(FILE *out, const struct memory *memory, unsigned long limit);

/* The looks, and the functions that touched memory first, as tables. */
void memory_print_looks(FILE *out, const struct memory *memory, unsigned long limit);
void memory_print_touchers(FILE *out, const struct memory *memory, unsigned long limit);

/* For other programs, as CSV or JSON. */
void memory_rows(struct output *out, bool json, const struct memory *memory, enum memory_rows of,
                 unsigned long limit);

/* Ranges and functions, those with the most bytes first; NULL if memory runs out.  The caller frees
 * the array. */
const struct memory_range **memory_sorted(const struct memory *memory);
const struct memory_toucher **memory_sorted_touchers(const struct memory *memory);

static inline uint64_t memory_bytes(uint64_t pages)
{
    return pages * MEMORY_PAGE_BYTES;
}

/* In percent. */
static inline double memory_share(uint64_t part, uint64_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

/* The name of the function that touched most of a range first; empty: unknown. */
static inline const char *memory_toucher(const struct memory *memory, const struct memory_range *r)
{
    return r->toucher != MEMORY_NO_TOUCHER ? memory->touchers[r->toucher].name : "";
}
