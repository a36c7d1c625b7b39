/* Events that are registers of the CPU: they always count, whatever runs, and need no counter.  The
 * host names them, the kernel reads them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/pmu/x86_signature.h"

enum msr_event_kind { /* where the value comes from: RDMSR, or */
                      MSR_EVENT_PLAIN = 0,
                      MSR_EVENT_OCCUPANCY = 1, /* these three: IA32_QM_EVTSEL's numbers, */
                      MSR_EVENT_TOTAL = 2,
                      MSR_EVENT_LOCAL = 3, /* drivers/pmu/pmu_rdt.h */
                      MSR_EVENT_IMC_READS = 4, /* drivers/pmu/pmu_imc.h */
                      MSR_EVENT_IMC_WRITES = 5,
                      MSR_EVENT_FABRIC = 6, /* and that of the last channel, */
                      MSR_EVENT_FABRIC_LAST = 13, /* drivers/pmu/pmu_umc.h */
};

enum msr_event_cpus { /* which CPUs may have it */
                      MSR_CPUS_ALL,
                      MSR_CPUS_INTEL,
                      MSR_CPUS_IMC, /* Intel's, and AMD's from Zen 4 on */
                      MSR_CPUS_FABRIC, /* AMD's Zen 2 and 3 */
};

struct msr_event {
    const char *name; /* without a suffix: rings cannot be chosen */
    const char *description;
    uint32_t msr;
    uint8_t width_bits; /* of plain ones, and of sums; 0: the driver says */
    uint32_t needs; /* HR_MACHINE_* flag of the CPUs that have the register, of plain ones */
    uint8_t kind; /* enum msr_event_kind */
    uint8_t cpus; /* enum msr_event_cpus */
};

extern const struct msr_event msr_events[]; /* ends with a NULL name */

/* Returns whether CPUs of this vendor, family and model may have it: the kernel finds out if this
 * one does. */
bool msr_events_may_be(const struct msr_event *event, bool intel, bool amd,
                       const struct x86_signature *cpu);

/* Returns NULL if there is no such event. */
const struct msr_event *msr_events_find(const char *name);
