/* The counters of AMD's memory controllers (UMC, from Zen 4 on) and of its data fabric (Zen 2 and
 * 3), which are registers of the whole processor.
 *
 * AMD64 Architecture Programmer's Manual, volume 3, CPUID Fn8000_0022; PPR of families 19H and 1AH,
 * "UMC Performance Monitor Counters", MSRs C001_0800 on; PPR of families 17H and 19H, "Data Fabric
 * Performance Monitor Counters", MSRs C001_0240 to C001_0247.
 *
 * probe: boot.  start: on one CPU, which then is the one that reads.  read: any context.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool pmu_umc_probe(void);
void pmu_umc_start(void);

/* Returns lines of 64 bytes that all controllers wrote, or read. */
uint64_t pmu_umc_read(bool writes);

/* Of the fabric: lines that went between it and a channel of memory, both ways.  Each channel that
 * is counted takes one of the counters. */
#define PMU_UMC_FABRIC_COUNTERS 4u
#define PMU_UMC_FABRIC_CHANNELS 8u
bool pmu_umc_fabric_probe(void);
uint32_t pmu_umc_fabric_msr(uint32_t counter); /* which RDMSR reads */
void pmu_umc_fabric_start(uint32_t msr, uint32_t channel);
