/* The registers that can be read with every sample.  Intel SDM volume 3B, "Hardware Feedback and
 * Performance Counters", and volume 4, MSR_SMI_COUNT; AMD APM volume 2, "Effective Frequency".  Of
 * the cache monitor: SDM volume 3B, "Intel Resource Director Technology (Intel RDT) Monitoring
 * Features"; AMD64 Technology Platform Quality of Service Extensions, "Monitoring".
 */
#include "lib/msr_events.h"

#include <stddef.h>
#include <string.h>

#include "include/hr_format.h"

const struct msr_event msr_events[] = {
    {"aperf", "clock cycles while the CPU does not halt, in all rings", 0xe8, 64, HR_MACHINE_APERF,
     MSR_EVENT_PLAIN, false},
    {"mperf", "the same at the TSC's frequency: aperf / mperf is how fast it was", 0xe7, 64,
     HR_MACHINE_APERF, MSR_EVENT_PLAIN, false},
    {"smi", "system management interrupts (Intel)", 0x34, 32, HR_MACHINE_SMI, MSR_EVENT_PLAIN,
     true},
    {"llc-occupancy", "bytes that the CPU has in the last-level cache, summed over the readings",
     0xc8e, 64, 0, MSR_EVENT_OCCUPANCY, false},
    {"mbm-total", "bytes between the CPU's last-level cache and memory", 0xc8e, 64, 0,
     MSR_EVENT_TOTAL, false},
    {"mbm-local", "the same, of this node's memory alone", 0xc8e, 64, 0, MSR_EVENT_LOCAL, false},
    {"imc-reads", "lines that the memory controller read for the whole machine (Intel, client)", 0,
     32, 0, MSR_EVENT_IMC_READS, true},
    {"imc-writes", "lines that it wrote", 0, 32, 0, MSR_EVENT_IMC_WRITES, true},
    {NULL, NULL, 0, 0, 0, 0, false},
};

const struct msr_event *msr_events_find(const char *name)
{
    for (const struct msr_event *e = msr_events; e->name != NULL; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
