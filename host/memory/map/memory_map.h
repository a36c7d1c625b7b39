/* Memory over time and address, for pictures: of accesses, of pages, or of allocations.
 *
 * The objects or ranges of which there is most are *bands*, each in rows of addresses and columns
 * of time (bins), with nothing in between.  Several walks: the first finds the bands, the last one
 * counts.  The trace is hostile: all is bounded.  Never prints.
 */
#pragma once

#include "host/memory/accesses/memory_accesses.h"
#include "host/memory/pages/memory.h"

#define MEMORY_MAP_BANDS 64u
#define MEMORY_MAP_BINS 512u
#define MEMORY_MAP_ROWS 512u /* of a band */
#define MEMORY_MAP_ROWS_ALL 2048u /* of all bands, where rows are blocks of a size */
#define MEMORY_MAP_SEVERAL UINT32_MAX /* threads */

enum memory_map_of {
    MEMORY_MAP_ANY, /* the first of these that the trace has */
    MEMORY_MAP_ACCESSES,
    MEMORY_MAP_PAGES,
    MEMORY_MAP_ALLOCATIONS,
    MEMORY_MAP_OFS,
};

extern const char *const memory_map_of_names[MEMORY_MAP_OFS];

struct memory_map_cell {
    uint64_t latency; /* ticks of the core's clock ... */
    uint32_t timed; /* ... of so many accesses */
    uint32_t reads, writes; /* records; of pages: pages that a look saw read, or written */
    uint32_t tid; /* of the accesses; MEMORY_MAP_SEVERAL */
};

struct memory_map_band { /* an object: the lowest to the highest address that was used */
    uint64_t first_key, last_key;
    uint64_t start, end;
    uint64_t weight; /* records, pages that were touched, bytes that were allocated */
    uint64_t reads, writes; /* as in cells */
    uint64_t objects, bytes; /* of the heap */
    uint32_t pid;
    uint32_t rows;
    char name[MEMORY_NAME_BYTES]; /* raw */
    char *detail; /* raw lines: the stack that allocated it, who touched it first; owned or NULL */
    struct memory_map_cell *cells; /* bin by bin, each with its rows, the lowest address first */
    double *live; /* likewise: the share of the cell that was allocated; NULL: nothing is known */
};

struct memory_map_life { /* of an object of the heap */
    uint64_t address, bytes;
    uint64_t from_ns, to_ns; /* UINT64_MAX: never freed */
    uint32_t band;
    uint32_t tid; /* that allocated it */
    double area; /* of what is shown of it */
};

struct memory_map_wish {
    enum memory_map_of of;
    uint64_t from_address, to_address; /* both inclusive */
    uint64_t block_bytes; /* of a row; 0: as it fits */
    uint32_t bands, bins, lives; /* at most */
    uint32_t rows, rows_least; /* of all bands, of each band: about */
    unsigned int jobs;
};

/* As fine as a page or data for other programs has it. */
extern const struct memory_map_wish memory_map_fine;

struct memory_map {
    struct memory_map_wish wish;
    enum memory_map_of of;
    struct memory_map_band bands[MEMORY_MAP_BANDS]; /* in the order of addresses */
    uint32_t count;
    uint32_t bins;
    uint64_t left_out; /* objects with less */
    uint64_t weight; /* of all */
    uint64_t from_ns, to_ns;
    uint64_t most; /* reads and writes of a cell */
    struct memory_map_life *lives; /* the largest areas; by band and time after the walk; owned */
    uint32_t life_count;
    uint64_t lives_left_out;
    struct memory pages; /* of a map of pages, and ... */
    uint32_t looks; /* ... the looks of its time: the last ones */
};

/* Reads a trace that is open.  0, -ENODATA or -errno; memory_map_free in any case. */
int memory_map_read(struct memory_map *map, struct trace_scan *scan, const char *path,
                    const struct memory_map_wish *wish);
void memory_map_free(struct memory_map *map);

/* The band of a thing; MEMORY_MAP_BANDS: none. */
uint32_t memory_map_band_of(const struct memory_map *map, uint64_t key);

/* Takes the first line from a band's detail.  Returns false if there is none. */
#define MEMORY_MAP_LINE 640
bool memory_map_line(const char **detail, char line[MEMORY_MAP_LINE]);

/* How much there was in a cell, from 0 to 1: of accesses a step of the logarithm, of pages the
 * share of the row's pages and the bin's looks. */
double memory_map_strength(const struct memory_map *map, const struct memory_map_band *band,
                           const struct memory_map_cell *cell);

static inline const struct memory_map_cell *memory_map_cell(const struct memory_map_band *band,
                                                            uint32_t bin, uint32_t row)
{
    return &band->cells[(size_t)bin * band->rows + row];
}

static inline uint64_t memory_map_records(const struct memory_map_cell *cell)
{
    return (uint64_t)cell->reads + cell->writes;
}

static inline double memory_map_live(const struct memory_map_band *band, uint32_t bin, uint32_t row)
{
    return band->live != NULL ? band->live[(size_t)bin * band->rows + row] : 0;
}

/* Whether there is nothing in a cell, of a number: bin * rows + row. */
static inline bool memory_map_is_empty(const struct memory_map_band *band, size_t n)
{
    return memory_map_records(&band->cells[n]) == 0 && (band->live == NULL || band->live[n] <= 0);
}

/* Bytes that are never divided. */
static inline uint64_t memory_map_unit(const struct memory_map *map)
{
    return map->of == MEMORY_MAP_PAGES ? MEMORY_PAGE_BYTES : 1;
}

/* The first address of a row: a whole unit. */
static inline uint64_t memory_map_row_start(const struct memory_map *map,
                                            const struct memory_map_band *band, uint32_t row)
{
    uint64_t units = (band->end - band->start) / memory_map_unit(map);

    return band->start +
           (uint64_t)((unsigned __int128)units * row / band->rows) * memory_map_unit(map);
}

/* Whether the picture is about an address. */
static inline bool memory_map_wants(const struct memory_map *map, uint64_t address)
{
    return address != 0 && address >= map->wish.from_address && address <= map->wish.to_address;
}
