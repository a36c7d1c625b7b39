/* Finds the file at a run-time address: a trace's load maps as ranges in ascending order.  Where
 * maps overlap, the later one counts.  Never prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trace_range { /* part of a map that no later map covers */
    uint64_t start;
    uint64_t end; /* first address after it */
    uint64_t file_offset; /* offset of `start` */
    uint32_t object; /* the caller's number for the file */
};

struct trace_ranges { /* all zero: empty */
    struct trace_range *ranges; /* ascending, disjoint; owned */
    size_t count;
    size_t capacity;
};

void trace_ranges_free(struct trace_ranges *maps);

/* Adds a map on top of those before it; an empty map adds nothing.  Returns 0 or -ENOMEM. */
int trace_ranges_add(struct trace_ranges *maps, const struct trace_range *map);

/* Returns the range that holds an address, or NULL. */
const struct trace_range *trace_ranges_find(const struct trace_ranges *maps, uint64_t address);
