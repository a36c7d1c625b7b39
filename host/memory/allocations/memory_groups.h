/* What `hr memory` says about allocations: rows by site, stack, function, line, size or thread.
 *
 * Rows are bounded: what finds no room is counted in the totals alone.  Never prints. */
#pragma once

#include "host/draw/latency_values.h"
#include "host/heap/memory_heap.h"
#include "host/heap/memory_totals.h"
#include "host/memory/allocations/memory_mapped.h"
#include "host/memory/allocations/memory_where.h"

#define MEMORY_GROUPS_MAX (1u << 20)
#define MEMORY_GROUPS_SHORT_NS 100000u /* objects that live shorter are churn */

enum memory_by {
    MEMORY_BY_SITE,
    MEMORY_BY_STACK,
    MEMORY_BY_FUNCTION,
    MEMORY_BY_LINE,
    MEMORY_BY_SIZE,
    MEMORY_BY_THREAD,
};

struct memory_group {
    uint64_t key;
    struct memory_totals totals; /* its peak is its own */
    uint64_t at_peak, at_peak_bytes; /* live when the program had most: valid for ... */
    uint64_t peaks; /* ... this number of the program's peaks */
    uint64_t brief; /* freed soon */
    struct latency_values lifetimes; /* ns, of those that were freed */
    uint32_t site; /* one of its sites, which allocated it first */
    struct memory_where where; /* unless by size or thread */
};

struct memory_groups {
    enum memory_by by;
    struct memory_heap heap;
    const struct stacks *stacks; /* of the walk; NULL: none */
    struct symbols *symbols;
    struct memory_totals totals;
    struct memory_mapped mapped;
    struct memory_group **all; /* owned, as the next ones; after memory_groups_sort in order */
    uint32_t count;
    uint32_t *index; /* hash table of numbers + 1 */
    uint32_t bits;
    uint32_t *of_site; /* number + 1; 0: not yet */
    uint32_t site_count;
    struct latency_values_pool pool;
    uint64_t refused; /* allocations that found no row */
    uint64_t unknown; /* frees of what was never seen */
    uint64_t twice; /* frees of what was freed before ... */
    struct memory_where twice_at; /* ... most of them here */
};

enum memory_order { MEMORY_ORDER_BYTES, MEMORY_ORDER_PEAK, MEMORY_ORDER_LEFT };

void memory_groups_init(struct memory_groups *rows, const struct trace_scan *scan,
                        enum memory_by by);
void memory_groups_free(struct memory_groups *rows);

/* Walks over the trace.  `symbols` name the rows.  0 or -errno. */
int memory_groups_read(struct memory_groups *rows, struct trace_scan *scan);

/* Sorts the rows, the largest first. */
void memory_groups_sort(struct memory_groups *rows, enum memory_order order);
