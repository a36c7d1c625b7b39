/* Memory over time and address for the page: what was accessed, touched and allocated, as far as
 * the trace tells.
 *
 * Walks of their own.  What they find is bounded: cells of memory_map_fine, and the objects that
 * take most of it.
 */
#pragma once

#include "host/memory/map/memory_map.h"
#include "host/view/data/view_columns.h"

struct view_memory { /* all zero at first */
    struct memory_map *maps[MEMORY_MAP_OFS]; /* owned; NULL: the trace has none */
    struct memory_accesses
        accesses; /* of the walk that asks whose accesses are; if there is a ... */
    struct memory_cursor cursor; /* ... map of them */
};

/* Reads of a trace what `scan`, which is at its start, has selected.  `info`: what comes before all
 * data says.  0 or -errno; view_memory_free in any case. */
int view_memory_read(struct view_memory *memory, const char *path, struct trace_scan *scan,
                     const struct trace_info *info);
void view_memory_free(struct view_memory *memory);

/* For the walk of `scan` from its start: a run of samples comes; the object of one of them, as a
 * band of the map of accesses, MEMORY_MAP_BANDS: none.  -errno through *error. */
void view_memory_run(struct view_memory *memory, const struct trace_samples *samples);
uint32_t view_memory_object(struct view_memory *memory, const struct trace_samples *samples,
                            uint32_t n, int *error);

/* Puts the maps into a group of columns. */
void view_memory_pack(const struct view_memory *memory, struct view_columns *columns);
