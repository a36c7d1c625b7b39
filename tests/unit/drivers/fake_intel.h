/* A CPU with Intel's counters, as the fakes play it, for the tests of that driver. */
#ifndef TESTS_UNIT_DRIVERS_FAKE_INTEL_H
#define TESTS_UNIT_DRIVERS_FAKE_INTEL_H

#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/intel.c"
#include "drivers/pmu/intel_assign.c"
#include "drivers/pmu/intel_pebs.c"
#include "drivers/pmu/intel_start.c"
#include "drivers/pmu/pmu_hardware.c"
#include "drivers/pmu/pmu_overflow.c"
#include "drivers/pmu/pmu_precise.c"

struct apic_state apic; /* in x2APIC mode: LVTPC is MSR 834H */

static struct cpuid_result leaf_01 = {.ecx = 1u << 15}; /* PDCM */
static struct cpuid_result leaf_0a, leaf_23_counters, leaf_23_events;
static struct pmu_caps caps;
static struct pmu_session session;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    switch (leaf) {
    case 0:
        return (struct cpuid_result){0x23, 0x756e6547, 0x6c65746e, 0x49656e69};
    case 1:
        return leaf_01;
    case 7:
        return (struct cpuid_result){.eax = subleaf == 1 ? 1u << 8 : 0};
    case 0x0a:
        return leaf_0a;
    case 0x23:
        return subleaf == 0   ? (struct cpuid_result){.eax = 1u | 1u << 1 | 1u << 3}
               : subleaf == 1 ? leaf_23_counters
               : subleaf == 3 ? leaf_23_events
                              : (struct cpuid_result){0};
    default:
        return (struct cpuid_result){0};
    }
}

static void add_event(uint64_t encoding)
{
    session.events[session.event_count++].encoding = encoding;
}

/* Version, general counters of 48 bits, fixed counters of 48 bits. */
static void begin(uint32_t version, uint32_t general, uint32_t fixed)
{
    memset(&fake, 0, sizeof fake);
    memset(&session, 0, sizeof session);
    memset(&caps, 0, sizeof caps);
    fake.speed = 5000;
    fake_add(0x834, 0, 0);
    leaf_0a = (struct cpuid_result){.eax = version | general << 8 | 48u << 16,
                                    .edx = version >= 2 ? fixed | 48u << 5 : 0};
    for (uint32_t i = 0; i < general; i++) {
        fake_add(0x186 + i, 0, 0);
        fake_add(version > 1 ? 0x4c1 + i : 0xc1 + i, 0, 0x186 + i);
    }
    if (version >= 2) {
        fake_add(0x38f, 0, 0);
        fake_add(0x38d, 0, 0);
        for (uint32_t i = 0; i < fixed; i++) {
            fake_add(0x309 + i, 0, 0x38d);
            fake.registers[fake.count - 1].enable = 3ull << 4 * i;
        }
        fake_add(0x345, 1u << 13, 0);
    }
}

#endif
