/* Packages, cores and threads: what the parts of an APIC id mean. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct topology { /* an APIC id is, from the top: package, core, thread */
    uint32_t core_shift; /* id >> core_shift: the core */
    uint32_t package_shift; /* id >> package_shift: the package; at least core_shift */
};

struct topology_count {
    uint32_t packages, cores, threads;
};

/* Reads CPUID of the calling CPU; all CPUs of a machine give the same. */
void topology_read(struct topology *out);

struct topology_count topology_count(const struct topology *topology, const uint32_t *apic_ids,
                                     uint32_t count);

/* Moves ids that share no core with `boot` or each other to the front; otherwise keeps their order.
 * count is at most 1024. */
void topology_spread(const struct topology *topology, uint32_t *apic_ids, uint32_t count,
                     uint32_t boot);

/* True for two different threads of one core. */
static inline bool topology_siblings(const struct topology *topology, uint32_t a, uint32_t b)
{
    return a != b && a >> topology->core_shift == b >> topology->core_shift;
}
