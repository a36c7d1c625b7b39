/* The registers that can be read with every sample.  Intel SDM volume 3B, "Hardware Feedback and
 * Performance Counters", and volume 4, MSR_SMI_COUNT; AMD APM volume 2, "Effective Frequency".  Of
 * the cache monitor: SDM volume 3B, "Intel Resource Director Technology (Intel RDT) Monitoring
 * Features"; AMD64 Technology Platform Quality of Service Extensions, "Monitoring".
 */
#include "lib/pmu/msr_events.h"

#include <stddef.h>
#include <string.h>

#include "include/hr_format.h"

#define CHANNEL_TEXT(n) \
    "lines between memory channel " n " and the caches, both ways (AMD, Zen 2, 3)"
#define CHANNEL(n) MSR_EVENT_FABRIC + (n), MSR_CPUS_FABRIC

const struct msr_event msr_events[] = {
    {"aperf", "clock cycles while the CPU does not halt, in all rings", 0xe8, 64, HR_MACHINE_APERF,
     MSR_EVENT_PLAIN, MSR_CPUS_ALL},
    {"mperf", "the same at the TSC's frequency: aperf / mperf is how fast it was", 0xe7, 64,
     HR_MACHINE_APERF, MSR_EVENT_PLAIN, MSR_CPUS_ALL},
    {"smi", "system management interrupts (Intel)", 0x34, 32, HR_MACHINE_SMI, MSR_EVENT_PLAIN,
     MSR_CPUS_INTEL},
    {"llc-occupancy", "bytes that the CPU has in the last-level cache, summed over the readings",
     0xc8e, 64, 0, MSR_EVENT_OCCUPANCY, MSR_CPUS_ALL},
    {"mbm-total", "bytes between the CPU's last-level cache and memory", 0xc8e, 64, 0,
     MSR_EVENT_TOTAL, MSR_CPUS_ALL},
    {"mbm-local", "the same, of this node's memory alone", 0xc8e, 64, 0, MSR_EVENT_LOCAL,
     MSR_CPUS_ALL},
    {"imc-reads", "lines that the memory controllers read for the whole machine", 0, 0, 0,
     MSR_EVENT_IMC_READS, MSR_CPUS_IMC},
    {"imc-writes", "lines that they wrote", 0, 0, 0, MSR_EVENT_IMC_WRITES, MSR_CPUS_IMC},
    {"df-channel0", CHANNEL_TEXT("0"), 0, 48, 0, CHANNEL(0)},
    {"df-channel1", CHANNEL_TEXT("1"), 0, 48, 0, CHANNEL(1)},
    {"df-channel2", CHANNEL_TEXT("2"), 0, 48, 0, CHANNEL(2)},
    {"df-channel3", CHANNEL_TEXT("3"), 0, 48, 0, CHANNEL(3)},
    {"df-channel4", CHANNEL_TEXT("4"), 0, 48, 0, CHANNEL(4)},
    {"df-channel5", CHANNEL_TEXT("5"), 0, 48, 0, CHANNEL(5)},
    {"df-channel6", CHANNEL_TEXT("6"), 0, 48, 0, CHANNEL(6)},
    {"df-channel7", CHANNEL_TEXT("7"), 0, 48, 0, CHANNEL(7)},
    {NULL, NULL, 0, 0, 0, 0, 0},
};

bool msr_events_may_be(const struct msr_event *event, bool intel, bool amd,
                       const struct x86_signature *cpu)
{
    switch (event->cpus) {
    case MSR_CPUS_INTEL:
        return intel;
    case MSR_CPUS_IMC:
        return intel || (amd && cpu->family >= X86_FAMILY_ZEN3 && !x86_signature_is_zen3(cpu));
    case MSR_CPUS_FABRIC:
        return amd && x86_signature_is_zen2_or_3(cpu);
    default:
        return true;
    }
}

const struct msr_event *msr_events_find(const char *name)
{
    for (const struct msr_event *e = msr_events; e->name != NULL; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
