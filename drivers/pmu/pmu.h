/* The performance counters' contract: one driver is chosen at boot by probing.
 *
 * configure, start, stop: thread context, interrupts off, on the CPU concerned.  read: any context,
 * NMI included; it must not lock, allocate or log.
 */
#ifndef DRIVERS_PMU_PMU_H
#define DRIVERS_PMU_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

struct pmu_caps { /* filled once, by the kernel and pmu_probe; later code asks these, never the
                     vendor */
    bool
        exact_instructions; /* virtual time: ring-3 instructions are known exactly; by the kernel */
};

struct pmu_event { /* one counter of the session, as it goes into the trace */
    char name[64];
    uint64_t encoding;
    uint64_t encoding_ext;
    uint32_t flags; /* HR_EVENT_USER, HR_EVENT_KERNEL */
    uint8_t source; /* enum hr_source */
    uint8_t width_bits;
};

struct pmu_session { /* the events of a run; the same on every CPU */
    uint32_t event_count;
    struct pmu_event events[HR_EVENTS_MAX];
};

struct pmu_driver {
    const char *name;
    /* True when this driver serves the machine; fills caps. */
    bool (*probe)(struct pmu_caps *caps);
    /* Resolves event->name (a generic name, optional :u) into the rest.  0, -ENOENT unknown,
     * -EINVAL modifier that the driver cannot count. */
    int (*resolve)(const struct pmu_caps *caps, struct pmu_event *event);
    void (*start)(const struct pmu_session *session);
    void (*stop)(const struct pmu_session *session);
    /* Stores the counts since start with pmu_store.  user_instructions: ring-3 ticks so far on this
     * CPU, which a driver without hardware derives its values from. */
    void (*read)(const struct pmu_session *session, uint64_t user_instructions, uint64_t *values);
};

/* Stores a word of a sample past the caches: the service CPU reads it, not this one.
 * pmu_store_fence orders such stores before those that follow. */
static inline void pmu_store(uint64_t *to, uint64_t value)
{
    __asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(value));
}

static inline void pmu_store32(uint32_t *to, uint32_t value)
{
    __asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(value));
}

static inline void pmu_store_fence(void)
{
    __asm__ volatile("sfence" ::: "memory");
}

/* All drivers, best first; ends with NULL.  The last, pmu_stub, serves every machine. */
extern const struct pmu_driver *const pmu_drivers[];
extern const struct pmu_driver pmu_stub;

/* Picks the first driver whose probe succeeds. */
const struct pmu_driver *pmu_probe(struct pmu_caps *caps);

#endif
