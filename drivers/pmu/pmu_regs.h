/* Performance-monitoring registers: numbers, bits, where they are described.  Nothing else.
 *
 * SDM: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3B, chapter
 * "Performance Monitoring"; MSR numbers also in volume 4.
 * APM: AMD64 Architecture Programmer's Manual, volume 2, chapter "Debug and Performance Resources",
 * section "Performance Monitoring Counters".
 */
#pragma once

/* Event select, the same layout for both vendors (SDM "IA32_PERFEVTSELx MSRs"; APM "Performance
 * Event- Select Registers"); AMD has event bits 11:8 in 35:32. */
#define PMU_SELECT_EVENT 0xffull
#define PMU_SELECT_UMASK 0xff00ull
#define PMU_SELECT_USER (1ull << 16)
#define PMU_SELECT_KERNEL (1ull << 17)
#define PMU_SELECT_EDGE (1ull << 18)
#define PMU_SELECT_INTERRUPT (1ull << 20)
#define PMU_SELECT_ENABLE (1ull << 22)
#define PMU_SELECT_INVERT (1ull << 23)
#define PMU_SELECT_CMASK 0xff000000ull
#define PMU_SELECT_AMD_EVENT_HIGH 0xf00000000ull

/* Intel (SDM "Architectural Performance Monitoring", versions 1 to 6) */
#define MSR_INTEL_PMC0 0x0c1u /* writes sign-extend bit 31 */
#define MSR_INTEL_A_PMC0 0x4c1u /* full width; IA32_PERF_CAPABILITIES.FW_WRITE */
#define MSR_INTEL_PERFEVTSEL0 0x186u
#define MSR_INTEL_FIXED_CTR0 0x309u
#define MSR_INTEL_PERF_CAPABILITIES 0x345u
#define MSR_INTEL_FIXED_CTR_CTRL 0x38du
#define MSR_INTEL_GLOBAL_STATUS 0x38eu /* version 2 on */
#define MSR_INTEL_GLOBAL_CTRL 0x38fu /* version 2 on */
#define MSR_INTEL_GLOBAL_OVF_CTRL 0x390u /* version 4 on: GLOBAL_STATUS_RESET */
#define MSR_INTEL_DEBUGCTL 0x1d9u
#define MSR_INTEL_MISC_ENABLE 0x1a0u
#define MSR_INTEL_PEBS_ENABLE 0x3f1u /* SDM "Processor Event Based Sampling (PEBS)" */
#define MSR_INTEL_PEBS_DATA_CFG 0x3f2u /* "Adaptive PEBS" */
#define MSR_INTEL_DS_AREA 0x600u /* "Debug Store (DS) Mechanism" */
/* Version 6: four registers a counter (SDM "MSR Aliasing"); they take full-width writes. */
#define MSR_INTEL_PMC_GP0_CTR 0x1900u
#define MSR_INTEL_PMC_GP0_CFG_A 0x1901u
#define MSR_INTEL_PMC_FX0_CTR 0x1980u
#define INTEL_PMC_STRIDE 4u
#define INTEL_CAPABILITIES_PEBS_FORMAT 8 /* four bits from here on */
#define INTEL_CAPABILITIES_SMM_FREEZE (1ull << 12)
#define INTEL_CAPABILITIES_PEBS_BASELINE (1ull << 14) /* every event, fixed counters, adaptive */
#define INTEL_MISC_PEBS_UNAVAILABLE (1ull << 12)
#define INTEL_PEBS_MEMORY 1ull /* groups of PEBS_DATA_CFG */
#define INTEL_PEBS_REGISTERS 2ull
#define INTEL_PEBS_LOAD_LATENCY 32 /* PEBS_ENABLE before Ice Lake: bit 32 + n */
#define INTEL_SELECT_ADAPTIVE (1ull << 34)
#define INTEL_FIXED_ADAPTIVE 32 /* FIXED_CTR_CTRL: bit 32 + 4n */
#define INTEL_STATUS_PEBS_BUFFER (1ull << 62) /* GLOBAL_STATUS: the buffer is at its threshold */
#define INTEL_CAPABILITIES_FW_WRITE (1ull << 13)
#define INTEL_FIXED_KERNEL 1ull /* of each counter's four bits in FIXED_CTR_CTRL */
#define INTEL_FIXED_USER 2ull
#define INTEL_FIXED_INTERRUPT 8ull
#define INTEL_GLOBAL_FIXED_SHIFT 32 /* of GLOBAL_CTRL and GLOBAL_STATUS */
#define INTEL_STATUS_CTR_FRZ (1ull << 59) /* version 4 on: counters are frozen */
#define INTEL_DEBUGCTL_FREEZE (1ull << 12) /* FREEZE_PERFMON_ON_PMI */
#define INTEL_DEBUGCTL_FREEZE_SMM (1ull << 14) /* FREEZE_WHILE_SMM */
#define INTEL_RDPMC_FIXED (1u << 30) /* SDM volume 2, RDPMC: ECX of fixed counters */

/* AMD */
#define MSR_AMD_LEGACY_CTL0 0xc0010000u /* four; APM "Legacy" PerfEvtSel */
#define MSR_AMD_LEGACY_CTR0 0xc0010004u
#define MSR_AMD_CORE_CTL0 0xc0010200u /* six, select and counter alternate; PerfCtrExtCore */
#define MSR_AMD_CORE_CTR0 0xc0010201u
#define MSR_AMD_GLOBAL_STATUS 0xc0000300u /* PerfMonV2: PerfCntrGlobalStatus */
#define MSR_AMD_GLOBAL_CTL 0xc0000301u /* PerfCntrGlobalCtl */
#define MSR_AMD_GLOBAL_STATUS_CLR 0xc0000302u /* PerfCntrGlobalStatusClr */
#define AMD_COUNTER_BITS 48
#define MSR_AMD_IBS_FETCH_CTL 0xc0011030u /* APM "Instruction-Based Sampling" */
#define MSR_AMD_IBS_FETCH_LINEAR 0xc0011031u
#define MSR_AMD_IBS_OP_CTL 0xc0011033u
#define MSR_AMD_IBS_OP_RIP 0xc0011034u
#define MSR_AMD_IBS_OP_DATA 0xc0011035u
#define MSR_AMD_IBS_OP_DATA2 0xc0011036u
#define MSR_AMD_IBS_OP_DATA3 0xc0011037u
#define MSR_AMD_IBS_DC_LINEAR 0xc0011038u
#define MSR_AMD_IBS_CTL 0xc001103au /* which entry of the APIC's extended interrupts */
