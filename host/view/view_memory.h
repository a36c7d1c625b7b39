/* Memory over time and address for the page: what was accessed, touched and allocated, as far as
 * the trace tells.
 *
 * Walks of their own.  What they find is bounded: cells of memory_map_fine, and the objects that
 * take most of it.
 */
#pragma once

#include "host/memory/memory_map.h"
#include "host/view/view_columns.h"

struct view_memory { /* all zero at first */
    struct memory_map *maps[MEMORY_MAP_OFS]; /* owned; NULL: the trace has none */
};

/* Reads the trace again, of which `scan` has been read to its end: what that has selected.  0 or
 * -errno; view_memory_free in any case. */
int view_memory_read(struct view_memory *memory, const char *path, const struct trace_scan *scan);
void view_memory_free(struct view_memory *memory);

/* Puts the maps into a group of columns. */
void view_memory_pack(const struct view_memory *memory, struct view_columns *columns);
