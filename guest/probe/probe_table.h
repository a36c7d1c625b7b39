/* What is to be probed, as the archive says, and the memory that probes take. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/layout.h"
#include "include/run_probes.h"

struct inode;

enum {
    PROBE_PAGE_PLAIN = 1, /* none of its points is in the file as it is: it has no copy */
    PROBE_PAGE_OLD = 2, /* added to the address: the file has changed since */
};

struct probe_object { /* a file with points */
    const char *path;
    uint32_t point_count;
    const struct run_probe_point *points; /* by file_offset */
    struct inode *inode; /* the file that has them: the last one of that path that was mapped */
    uint64_t modified; /* its time of change when `pages` was true */
    uint64_t *pages; /* by index less first_page: PROBE_PAGE_* or the physical address of a copy
                        with breakpoints */
    uint64_t first_page, page_count; /* of the file: those from its first point to its last */
    uint32_t refused; /* points where the file holds something else than the table says */
};

struct probe_table {
    const struct run_probe_point *points; /* all */
    uint32_t point_count; /* 0: there are no probes */
    struct probe_object *objects;
    uint32_t object_count;
    uint32_t argument_count;
    uint32_t every; /* 0: hits are recorded; N: every Nth hit of a point is a sample */
    bool stacks; /* each entry and each place is also a sample, with its call stack */
    const uint8_t *meta; /* records for the trace */
    uint32_t meta_bytes;
};

extern struct probe_table probe_table; /* written by probe_read alone */

/* Returns zeroed memory that stays, at most 4 MiB, aligned to 64 bytes, from a page's size on to a
 * page; NULL if what was reserved at boot is used up.  It is apart from all other memory, so
 * that probes do not change which memory the program gets, nor how fast. */
void *probe_alloc(uint64_t bytes);
#define PROBE_ALLOC_MAX ((uint64_t)PAGE_BYTES << 10)

static inline uint64_t probe_physical(const void *memory)
{
    return (uint64_t)memory - DIRECT_MAP;
}

/* Returns the first point of the object at or after an offset in the file; its end if there is
 * none. */
const struct run_probe_point *probe_point_from(const struct probe_object *object, uint64_t offset);
