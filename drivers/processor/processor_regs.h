/* Registers and CPUID bits that say how a processor is set up and what befell it.  Nothing else.
 *
 * SDM: Intel 64 and IA-32 Architectures Software Developer's Manual; MSR numbers in volume 4,
 * tables "IA-32 Architectural MSRs" and "MSRs in Processors Based on ..."; CPUID in volume 2A,
 * section "CPUID—CPU Identification".
 * APM: AMD64 Architecture Programmer's Manual; MSRs in volume 2, appendix "MSR Cross-Reference";
 * CPUID in volume 3, appendix "Obtaining Processor Information Via the CPUID Instruction".
 */
#pragma once

/* SDM volume 3A, "Identifying the Processor's Microcode Update Signature": Intel's is in bits
 * 63:32 after a write of 0 and CPUID 1; AMD's is in bits 31:0. */
#define MSR_MICROCODE 0x8bu

/* SDM volume 3B, "Hardware Feedback and Performance Counters"; APM volume 2, "Effective
 * Frequency": MPERF counts at the frequency of the TSC, APERF at the actual one, both while the
 * processor does not halt. */
#define MSR_MPERF 0xe7u
#define MSR_APERF 0xe8u

/* SDM volume 4, MSR_SMI_COUNT: SMIs since reset in bits 31:0; Nehalem and later, Atoms of
 * Silvermont and later.  AMD has none. */
#define MSR_SMI_COUNT 0x34u

/* SDM volume 3B, "Thermal Status Information" and "Package Level Thermal Management": status bits
 * are even, their logs the odd ones above them; a log stays until 0 is written to it. */
#define MSR_THERM_STATUS 0x19cu
#define MSR_PACKAGE_THERM_STATUS 0x1b1u

/* SDM volume 4, IA32_MISC_ENABLE; APM volume 2, "Hardware Configuration Register (HWCR)" */
#define MSR_MISC_ENABLE 0x1a0u
#define MISC_ENABLE_TURBO_OFF (1ull << 38)
#define MSR_HWCR 0xc0010015u
#define HWCR_BOOST_OFF (1ull << 25) /* CpbDis */

/* SDM volume 3B, "Hardware-Controlled Performance States (HWP)" */
#define MSR_HWP_ENABLE 0x770u
#define MSR_HWP_REQUEST 0x774u
#define HWP_ENABLED 1ull

/* SDM volume 3B, "Enhanced Intel SpeedStep Technology": the ratio to the bus in bits 15:8.
 * APM volume 2, "P-State Control": the number of the P-state. */
#define MSR_PERF_STATUS 0x198u
#define MSR_PERF_CTL 0x199u
#define MSR_PSTATE_CTL 0xc0010062u
#define MSR_PSTATE_STATUS 0xc0010063u

#define CPUID_1_ECX_EST (1u << 7)
#define CPUID_1_ECX_HYPERVISOR (1u << 31)
#define CPUID_1_EDX_ACPI (1u << 22) /* thermal monitor and clock control */
#define CPUID_1_EDX_HTT (1u << 28)
#define CPUID_6_EAX_SENSOR (1u << 0)
#define CPUID_6_EAX_TURBO (1u << 1)
#define CPUID_6_EAX_PACKAGE (1u << 6)
#define CPUID_6_EAX_HWP (1u << 7)
#define CPUID_6_ECX_APERF_MPERF (1u << 0)
#define CPUID_7_EDX_HYBRID (1u << 15)
#define CPUID_EXT_1_ECX_TOPOLOGY (1u << 22) /* 80000001H: leaf 8000001EH exists */
#define CPUID_EXT_7_EDX_PSTATES (1u << 7) /* 80000007H */
#define CPUID_EXT_7_EDX_INVARIANT_TSC (1u << 8)
#define CPUID_EXT_7_EDX_BOOST (1u << 9)
