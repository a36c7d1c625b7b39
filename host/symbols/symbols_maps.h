/* Which file lies at a run-time address: a trace's load maps as ranges in ascending order.  Where
 * maps overlap the later one holds.  Never prints.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_MAPS_H
#define HOST_SYMBOLS_SYMBOLS_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct symbols_range { /* part of a map that no later one covers */
    uint64_t start;
    uint64_t end; /* first address behind it */
    uint64_t file_offset; /* of start */
    uint32_t object; /* the caller's number of the file */
};

struct symbols_maps { /* all zero: empty */
    struct symbols_range *ranges; /* ascending, disjoint; owned */
    size_t count;
    size_t capacity;
};

void symbols_maps_free(struct symbols_maps *maps);

/* Adds a map over those before it; one that is empty adds nothing.  0 or -ENOMEM. */
int symbols_maps_add(struct symbols_maps *maps, const struct symbols_range *map);

/* The range that holds an address, or NULL. */
const struct symbols_range *symbols_maps_find(const struct symbols_maps *maps, uint64_t address);

#endif
