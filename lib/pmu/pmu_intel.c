/* Intel's fixed counters and companion registers as tables. */
#include "lib/pmu/pmu_intel.h"

#include "lib/array.h"

#define SELECT_CODE 0xffffull /* event and unit mask */
/* What a fixed counter does with an event as well: the rings, the interrupt and the enable bit.  Of
 * any other bit (edge, inversion, CMASK, AnyThread, transactions) it knows nothing. */
#define SELECT_OF_FIXED (SELECT_CODE | 1ull << 16 | 1ull << 17 | 1ull << 20 | 1ull << 22)

int pmu_intel_fixed(uint64_t select)
{
    static const struct {
        uint16_t code;
        uint8_t counter;
    } events[] = {{0x00c0, 0}, {0x0100, 0}, {0x003c, 1}, {0x0200, 1},
                  {0x0300, 2}, {0x0400, 3}, {0x01a4, 3}};

    if (select & ~SELECT_OF_FIXED)
        return -1;
    for (unsigned i = 0; i < ARRAY_COUNT(events); i++) {
        if (events[i].code == (select & SELECT_CODE))
            return events[i].counter;
    }
    return -1;
}

uint32_t pmu_intel_companion(uint64_t select)
{
    /* 2AH and 2BH: off-core responses from Sapphire Rapids on; 0BH: load latency of Nehalem. */
    static const struct {
        uint8_t code;
        uint32_t msr;
    } companions[] = {
        {0xb7, MSR_INTEL_OFFCORE_RSP0},  {0xbb, MSR_INTEL_OFFCORE_RSP1},
        {0x2a, MSR_INTEL_OFFCORE_RSP0},  {0x2b, MSR_INTEL_OFFCORE_RSP1},
        {0xcd, MSR_INTEL_PEBS_LD_LAT},   {0x0b, MSR_INTEL_PEBS_LD_LAT},
        {0xc6, MSR_INTEL_PEBS_FRONTEND},
    };

    for (unsigned i = 0; i < ARRAY_COUNT(companions); i++) {
        if (companions[i].code == (select & 0xff))
            return companions[i].msr;
    }
    return 0;
}
