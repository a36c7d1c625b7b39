/* Which of Intel's counters and registers an event needs, from its select value alone.
 *
 * Source: SDM volume 3B, "Fixed-Function Performance Counters", "Off-core Response Performance
 * Monitoring", "Load Latency Performance Monitoring Facility", "PEBS Frontend Events".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The registers that hold the rest of an event's select. */
#define MSR_INTEL_OFFCORE_RSP0 0x1a6u
#define MSR_INTEL_OFFCORE_RSP1 0x1a7u
#define MSR_INTEL_PEBS_LD_LAT 0x3f6u
#define MSR_INTEL_PEBS_FRONTEND 0x3f7u

/* Returns the number of the fixed counter that counts what this select says, if the CPU has it;
 * -1: no fixed counter does. */
int pmu_intel_fixed(uint64_t select);

/* Returns whether a general counter can count what this select says.  Event 00H is none of a
 * general counter: Intel's event lists use it for the fixed ones. */
static inline bool pmu_intel_is_general(uint64_t select)
{
    return (select & 0xff) != 0;
}

/* Returns the companion register of an event, which holds the rest of its select; 0: none. */
uint32_t pmu_intel_companion(uint64_t select);
