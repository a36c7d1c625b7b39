/* How many objects and bytes a program allocated, and had at a time.  For sinks of
 * host/heap/memory_heap.h; never prints. */
#pragma once

#include <stdint.h>

#include "host/heap/memory_heap.h"

struct memory_totals { /* all zero at first */
    uint64_t count, bytes; /* allocated */
    uint64_t freed; /* objects */
    uint64_t live, live_bytes; /* now */
    uint64_t peak, peak_bytes; /* when there were most bytes */
    uint64_t peak_time; /* ticks: the first such time */
    uint64_t peaks; /* how often there were more than ever before: names the latest */
    uint64_t left, left_bytes; /* never freed */
};

/* Take what a sink is told. */
void memory_totals_allocated(struct memory_totals *t, const struct memory_object *object);
void memory_totals_freed(struct memory_totals *t, const struct memory_object *object);
void memory_totals_left(struct memory_totals *t, const struct memory_object *object);

/* Walks over a trace that is open for its totals alone.  0 or -errno. */
int memory_totals_read(struct memory_totals *t, struct trace_scan *scan);
