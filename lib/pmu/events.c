/* The generic events and the ratios of their stub counters. */
#include "lib/pmu/events.h"

#include <string.h>

/* clang-format off */
const struct event_info events_table[] = {
    {"instructions", "instructions retired", 1, 1},
    {"cycles", "core clock cycles", 5, 4},
    {"cpu-cycles", "the same as cycles", 5, 4},
    {"ref-cycles", "clock cycles at the reference frequency", 9, 8},
    {"bus-cycles", "clock cycles of the bus", 1, 32},
    {"branches", "branch instructions retired", 1, 5},
    {"branch-instructions", "the same as branches", 1, 5},
    {"branch-misses", "mispredicted branches", 1, 200},
    {"cache-references", "accesses to the last-level cache", 1, 50},
    {"cache-misses", "misses in the last-level cache", 1, 500},
    {"LLC-misses", "the same as cache-misses", 1, 500},
    {"L1-dcache-loads", "loads", 1, 4},
    {"L1-dcache-load-misses", "loads that missed the first-level data cache", 1, 80},
    {"L1-dcache-stores", "stores", 1, 8},
    {"mem-loads", "loads, whose records have latencies (--mode pebs)", 1, 4},
    {"mem-stores", "stores (--mode pebs)", 1, 8},
    {"ibs_op", "ops that AMD's processors follow (--mode pebs)", 1, 1},
    {"ibs_fetch", "fetches that they follow (--mode pebs)", 1, 4},
    {"LLC-loads", "loads that reached the last-level cache", 1, 100},
    {"LLC-load-misses", "loads that missed the last-level cache", 1, 1000},
    {"LLC-stores", "stores that reached the last-level cache", 1, 200},
    {"LLC-store-misses", "stores that missed the last-level cache", 1, 2000},
    {"dTLB-load-misses", "loads that missed the data TLB", 1, 1600},
    {"iTLB-load-misses", "instruction fetches that missed the instruction TLB", 1, 8000},
    {"stalled-cycles-frontend", "cycles without instructions to issue", 1, 8},
    {"stalled-cycles-backend", "cycles without resources to issue to", 1, 4},
    {NULL, NULL, 0, 0},
};
/* clang-format on */

const struct event_info *events_find(const char *name, size_t bytes)
{
    for (const struct event_info *e = events_table; e->name != NULL; e++)
        if (strlen(e->name) == bytes && memcmp(e->name, name, bytes) == 0)
            return e;
    return NULL;
}
