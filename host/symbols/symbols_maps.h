/* Finds the file at a run-time address: a trace's load maps as ranges in ascending order.  Where
 * maps overlap, the later one counts.  Never prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct symbols_range { /* part of a map that no later map covers */
    uint64_t start;
    uint64_t end; /* first address after it */
    uint64_t file_offset; /* offset of `start` */
    uint32_t object; /* the caller's number for the file */
};

struct symbols_maps { /* all zero: empty */
    struct symbols_range *ranges; /* ascending, disjoint; owned */
    size_t count;
    size_t capacity;
};

void symbols_maps_free(struct symbols_maps *maps);

/* Adds a map on top of those before it; an empty map adds nothing.  Returns 0 or -ENOMEM. */
int symbols_maps_add(struct symbols_maps *maps, const struct symbols_range *map);

/* Returns the range that holds an address, or NULL. */
const struct symbols_range *symbols_maps_find(const struct symbols_maps *maps, uint64_t address);
