/* Events that are registers of the CPU: they always count, whatever runs, and need no counter.  The
 * host names them, the kernel reads them.
 */
#ifndef LIB_MSR_EVENTS_H
#define LIB_MSR_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum msr_event_kind { /* where the value comes from: RDMSR, or */
                      MSR_EVENT_PLAIN = 0,
                      MSR_EVENT_OCCUPANCY = 1, /* these three: IA32_QM_EVTSEL's numbers, */
                      MSR_EVENT_TOTAL = 2,
                      MSR_EVENT_LOCAL = 3, /* drivers/pmu/pmu_rdt.h */
                      MSR_EVENT_IMC_READS = 4, /* no MSR: drivers/pmu/pmu_imc.h */
                      MSR_EVENT_IMC_WRITES = 5,
};

struct msr_event {
    const char *name; /* without a suffix: rings cannot be chosen */
    const char *description;
    uint32_t msr;
    uint8_t width_bits;
    uint32_t needs; /* HR_MACHINE_* flag of the CPUs that have the register, of plain ones */
    uint8_t kind; /* enum msr_event_kind */
    bool intel; /* CPUs of other vendors do not have it */
};

extern const struct msr_event msr_events[]; /* ends with a NULL name */

/* Returns NULL if there is no such event. */
const struct msr_event *msr_events_find(const char *name);

#endif
