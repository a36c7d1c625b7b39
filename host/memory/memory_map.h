/* Accesses over time and address, for a picture: the objects that are accessed most, each in rows
 * of addresses and columns of time, with nothing in between.
 *
 * Two walks: the first finds the objects, the second counts.  The trace is hostile: bounded.  Never
 * prints.
 */
#pragma once

#include "host/memory/memory_accesses.h"

#define MEMORY_MAP_BANDS 64u
#define MEMORY_MAP_BINS 512u
#define MEMORY_MAP_ROWS 512u /* of a band */
#define MEMORY_MAP_LIVES (1u << 17) /* that are kept in the walk; shown are those in bands */

struct memory_map_cell { /* records */
    uint32_t reads, writes;
};

struct memory_map_band { /* an object: the lowest to the highest address that was accessed */
    uint64_t first_key, last_key;
    uint64_t start, end;
    uint64_t reads, writes;
    uint32_t pid;
    uint32_t rows; /* set by the caller of memory_map_count(), up to MEMORY_MAP_ROWS */
    char name[MEMORY_NAME_BYTES]; /* raw */
    struct memory_map_cell *cells; /* bin by bin, each with its rows, the lowest address first */
};

struct memory_map_wish {
    uint64_t from_address, to_address; /* both inclusive */
    uint32_t bands, bins; /* at most */
};

struct memory_map_life { /* of an object of the heap */
    uint64_t key; /* of its site */
    uint64_t address, bytes;
    uint64_t from_ns, to_ns;
};

struct memory_map {
    struct memory_accesses *accesses;
    struct memory_map_wish wish;
    struct memory_map_band bands[MEMORY_MAP_BANDS]; /* in the order of addresses */
    uint32_t count;
    uint64_t left_out; /* objects with fewer accesses */
    uint64_t records; /* in all objects of these addresses */
    uint64_t from_ns, to_ns; /* of the first record and the last one */
    struct memory_map_life *lives; /* of the objects in bands, if the trace tells; owned */
    size_t life_count;
};

/* Finds the objects with the most accesses.  0, -ENODATA or -errno; memory_map_free in any case. */
int memory_map_find(struct memory_map *map, struct memory_accesses *accesses,
                    const struct memory_map_wish *wish);

/* Counts, when the bands have rows.  0 or -errno. */
int memory_map_count(struct memory_map *map);
void memory_map_free(struct memory_map *map);

/* Whether the picture is about an address. */
static inline bool memory_map_wants(const struct memory_map *map, uint64_t address)
{
    return address != 0 && address >= map->wish.from_address && address <= map->wish.to_address;
}
