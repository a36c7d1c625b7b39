/* Registers of the local APIC that only its driver touches.  Intel SDM volume 3, chapter "Advanced
 * Programmable Interrupt Controller (APIC)": "Local APIC Register Address Map", "Local Vector
 * Table", "Interrupt Command Register (ICR)"; volume 4, "IA-32 Architectural MSRs".
 */
#pragma once

enum {
    MSR_APIC_BASE = 0x1b,
    MSR_X2APIC_ICR = 0x830,
};
#define CPUID_1_ECX_TSC_DEADLINE (1u << 24)
#define APIC_BASE_ENABLE (1u << 11)
#define APIC_BASE_X2APIC (1u << 10)
#define APIC_BASE_ADDRESS 0x000ffffffffff000ull
#define APIC_PAGE_BYTES 4096

enum { /* offsets */
       APIC_LOGICAL_ID = 0xd0,
       APIC_LOGICAL_FORMAT = 0xe0, /* not in x2APIC mode */
       APIC_ISR = 0x100, /* eight registers, as APIC_IRR */
       APIC_ERROR_STATUS = 0x280,
       APIC_LVT_CMCI = 0x2f0,
       APIC_LVT_THERMAL = 0x330,
       /* AMD APM volume 2, "Extended APIC Registers": where the version says that they are */
       APIC_EXTENDED_FEATURES = 0x400,
       APIC_EXTENDED_LVT = 0x500,
};
#define VERSION_EXTENDED (1u << 31)

enum {
    SPURIOUS_ENABLE = 1 << 8,
    LVT_MASKED = 1 << 16,
    LVT_MODE = 3 << 17, /* of the timer; one-shot is 0 */
    LVT_PERIODIC = 1 << 17,
    LVT_TSC_DEADLINE = 2 << 17,
    LVT_READ_ONLY = 1 << 12 | 1 << 14, /* delivery status, remote IRR */
    ICR_INIT = 0x4500, /* assert, edge, physical */
    ICR_STARTUP = 0x4600,
    ICR_FIXED = 0x4000,
    ICR_NMI = 0x4400,
    ICR_SELF = 1 << 18,
    ICR_PENDING = 1 << 12,
    TIMER_DIVIDE_BY_1 = 0xb,
};
