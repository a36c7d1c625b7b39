/* The local APIC: xAPIC (memory-mapped) or x2APIC (MSRs), and its one-shot timer.  Intel SDM volume
 * 3, chapter "Advanced Programmable Interrupt Controller (APIC)".  All functions act on the calling
 * CPU.  Context: interrupts off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/apic/apic_nmi.h"
#include "lib/x86.h"

/* SDM volume 4, "Architectural MSRs"; the x2APIC register at `offset` is MSR base + offset / 16 */
#define APIC_MSR_X2APIC_BASE 0x800u
#define APIC_MSR_TSC_DEADLINE 0x6e0u

/* register offsets in the xAPIC page: section "Local APIC Register Address Map" */
enum {
    APIC_ID = 0x20,
    APIC_VERSION = 0x30,
    APIC_TPR = 0x80,
    APIC_EOI = 0xb0,
    APIC_SPURIOUS = 0xf0,
    APIC_IRR = 0x200, /* eight registers of 32 vectors, 10H apart */
    APIC_ICR_LOW = 0x300,
    APIC_ICR_HIGH = 0x310,
    APIC_LVT_TIMER = 0x320,
    APIC_LVT_PMI = 0x340,
    APIC_LVT_LINT0 = 0x350,
    APIC_LVT_LINT1 = 0x360,
    APIC_LVT_ERROR = 0x370,
    APIC_TIMER_INITIAL = 0x380,
    APIC_TIMER_CURRENT = 0x390,
    APIC_TIMER_DIVIDE = 0x3e0,
    APIC_LVT_EXTENDED =
        0x500, /* AMD: four entries, 10H apart; APM volume 2, "Extended Interrupts" */
};

/* Filled by apic_init, read-only afterwards. */
struct apic_state {
    volatile uint32_t *registers; /* xAPIC page; NULL in x2APIC mode */
    bool tsc_deadline; /* timer by IA32_TSC_DEADLINE; otherwise one-shot count */
    uint64_t count_multiplier; /* timer counts per tick, 32.32 fixed point */
};
extern struct apic_state apic;

static inline uint32_t apic_read(uint32_t offset)
{
    if (apic.registers != NULL)
        return apic.registers[offset / 4];
    return (uint32_t)x86_rdmsr(APIC_MSR_X2APIC_BASE + offset / 16);
}

static inline void apic_write(uint32_t offset, uint32_t value)
{
    if (apic.registers != NULL)
        apic.registers[offset / 4] = value;
    else
        x86_wrmsr(APIC_MSR_X2APIC_BASE + offset / 16, value);
}

static inline void apic_eoi(void)
{
    apic_write(APIC_EOI, 0);
}

/* True if an interrupt of this vector is accepted, but not delivered yet. */
static inline bool apic_pending(uint8_t vector)
{
    return apic_read(APIC_IRR + vector / 32 * 0x10u) >> vector % 32 & 1;
}

/* Detects the mode (x2APIC if CPUID offers it, unless the firmware opts out of it) and maps the
 * page.  Called once, on the boot CPU. */
void apic_init(uint64_t physical_base, bool x2apic_opt_out);

/* True if a CPU of this APIC id can be interrupted.  In xAPIC mode ids have 8 bits, and FFH means
 * all CPUs. */
static inline bool apic_reaches(uint32_t apic_id)
{
    return apic.registers == NULL || apic_id < 0xff;
}

/* The kernel's vectors are from here on.  Those of the firmware, which may still have timers and
 * devices that interrupt, are below: they wait until apic_restore (drivers/apic/apic_state.h). */
#define APIC_OWN_VECTORS 0xe0

/* Enables the calling CPU's local APIC: spurious vector, only the kernel's own vectors, all LVT
 * entries masked. */
void apic_enable(uint8_t spurious_vector);
void apic_mask_all(void);

/* Orders earlier stores, and in x2APIC mode an earlier WRMSR, before what follows; neither is
 * ordered by itself. */
void apic_order(void);

uint32_t apic_id(void); /* of the calling CPU */

/* Timer: apic_timer_calibrate measures the count rate against a TSC of known frequency (or takes
 * 1 count per tick when `virtual_time`), and decides for TSC-deadline where CPUID offers it.  Once.
 * apic_timer_setup programs the calling CPU's LVT entry.
 */
void apic_timer_calibrate(uint64_t tsc_hz, bool virtual_time);
void apic_timer_setup(uint8_t vector);

/* Returns the timer's count for so many ticks, at least 1, for 0 would stop it. */
static inline uint32_t apic_timer_count(uint64_t ticks)
{
    uint32_t count = (uint32_t)(ticks * apic.count_multiplier >> 32);

    return count + (count < 1);
}

/* Arms the one-shot timer to interrupt in `ticks` TSC ticks (below 1: at once; above 2^31-1: then,
 * and the caller arms it again); replaces an armed one.
 */
static inline void apic_timer_arm(int64_t ticks)
{
    if (__builtin_expect((uint64_t)ticks > 0x7fffffff, 0))
        ticks = ticks < 1 ? 1 : 0x7fffffff;
    if (apic.tsc_deadline)
        x86_wrmsr(APIC_MSR_TSC_DEADLINE, x86_rdtsc() + (uint64_t)ticks);
    else
        apic_write(APIC_TIMER_INITIAL, apic_timer_count((uint64_t)ticks));
}

/* As apic_timer_arm, for the TSC at which to interrupt. */
static inline void apic_timer_arm_at(uint64_t tsc)
{
    if (apic.tsc_deadline)
        x86_wrmsr(APIC_MSR_TSC_DEADLINE, tsc);
    else
        apic_timer_arm((int64_t)(tsc - x86_rdtsc()));
}

/* Sets the timer to periodic or one-shot mode (SDM volume 3, "APIC Timer").  Of a timer that is
 * armed by its count, what it was last armed with is the period, and the next one ends when it
 * would have ended in the other mode. */
void apic_timer_repeat(uint8_t vector, bool periodic);

/* Does apic_eoi and apic_timer_arm where that takes few instructions: in xAPIC mode, by the count.
 * Returns false otherwise, and does nothing. */
static inline bool apic_eoi_and_arm(int64_t ticks)
{
    volatile uint32_t *registers = apic.registers;

    if (__builtin_expect(registers == NULL || apic.tsc_deadline || (uint64_t)ticks > 0x7fffffff, 0))
        return false;
    registers[APIC_EOI / 4] = 0;
    registers[APIC_TIMER_INITIAL / 4] = apic_timer_count((uint64_t)ticks);
    return true;
}

static inline void apic_timer_stop(void)
{
    if (apic.tsc_deadline)
        x86_wrmsr(APIC_MSR_TSC_DEADLINE, 0);
    else
        apic_write(APIC_TIMER_INITIAL, 0);
}

/* The entry for counter overflows delivers an NMI, or is masked.  Intel's CPUs mask it whenever
 * they deliver (SDM volume 3, "Local Vector Table"): enabling is part of each acknowledgement. */
#define APIC_LVT_MASKED 0x10000u

_Static_assert(APIC_MSR_LVT_PMI == APIC_MSR_X2APIC_BASE + APIC_LVT_PMI / 16, "apic_nmi.h");

static inline void apic_pmi_enable(void)
{
    apic_write(APIC_LVT_PMI, APIC_LVT_NMI);
}

/* It delivers an interrupt instead, which does not come in ring 0. */
static inline void apic_pmi_interrupt(uint8_t vector)
{
    apic_write(APIC_LVT_PMI, vector);
}

static inline void apic_pmi_disable(void)
{
    apic_write(APIC_LVT_PMI, APIC_LVT_NMI | APIC_LVT_MASKED);
}

/* Fixed interrupt to another CPU. */
void apic_send(uint32_t to_apic_id, uint8_t vector);

/* Non-maskable interrupt to a CPU. */
void apic_send_nmi(uint32_t to_apic_id);

/* Fixed interrupt to the calling CPU itself. */
void apic_send_self(uint8_t vector);

/* INIT: the CPU waits for STARTUP from then on, whatever it did. */
void apic_send_init(uint32_t to_apic_id);

/* INIT, then STARTUP twice with the delays of SDM volume 3, "MP Initialization Protocol";
 * the trampoline page's physical address is page * 4096 < 1 MiB.  delay_us busy-waits.
 */
void apic_start_cpu(uint32_t to_apic_id, uint8_t page, void (*delay_us)(uint64_t us));
