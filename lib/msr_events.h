/* Events that are registers of the CPU: they always count, whatever runs, and need no counter.  The
 * host names them, the kernel reads them.
 */
#ifndef LIB_MSR_EVENTS_H
#define LIB_MSR_EVENTS_H

#include <stdint.h>

struct msr_event {
    const char *name; /* without a suffix: rings cannot be chosen */
    const char *description;
    uint32_t msr;
    uint8_t width_bits;
    uint32_t needs; /* HR_MACHINE_* flag of the CPUs that have the register; 0: see the next */
    uint8_t monitored; /* what the cache monitor is asked for (drivers/pmu/pmu_rdt.h); 0: nothing */
};

extern const struct msr_event msr_events[]; /* ends with a NULL name */

/* Returns NULL if there is no such event. */
const struct msr_event *msr_events_find(const char *name);

#endif
