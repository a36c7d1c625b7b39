/* Overflow sampling: what the handler of a counter's interrupt reads and writes, determined at
 * start. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"
#include "lib/x86.h"

struct pmu_overflow {
    /* The counter has overflowed when any of these bits is set after flipping: a status register's
     * bit as it is, or, where there is none, the counter's own top bit, which a preset of -period
     * sets and overflow clears. */
    uint32_t look_msr;
    uint32_t counter_msr; /* takes -period */
    uint32_t counter; /* for RDPMC */
    uint64_t look_bits;
    uint64_t look_flip;
    uint64_t counter_mask;
    uint32_t clear_msr; /* takes clear_bits after that; 0: nothing to acknowledge */
    uint32_t control_msr; /* takes 0 when the overflow is seen and control last; 0: left alone */
    uint64_t clear_bits;
    uint64_t control;
    bool plain; /* a status register, whose bits are not flipped, and no control_msr; start sets it
                 */
    bool bare; /* the counter's top bit, and no other register; likewise */
    struct x86_halves looked, cleared, preset; /* look_bits, clear_bits; the session's preset */
} __attribute__((aligned(64)));

/* Part of pmu_driver.start if the session has a period, before any counter counts; alike on every
 * CPU.  Acknowledges what an earlier session left.  Returns the value to preset the counter to. */
uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period);

/* Part of pmu_driver.stop: an interrupt still on its way finds no overflow where there is a status
 * register, so that rearm does not start the counters again. */
void pmu_overflow_clear(void);

/* What start determined; alike on every CPU. */
extern struct pmu_overflow pmu_overflow;

/* Overflow sampling of the first event, whose counter start has set to -period and told to
 * interrupt; the caller has enabled the local APIC's LVTPC entry.  Of every driver whose counters
 * interrupt, so that the handler need not call one.  No register here can fault: start has used
 * them all.  (A fault in an NMI's handler would let the next NMI in: SDM volume 3A, "Handling
 * Multiple NMIs".)  Interrupts off or NMI. */

/* If the counter has overflowed since it was armed, stores what it holds and returns true;
 * otherwise changes nothing.  Reads it only once, as each reading may be expensive under a
 * hypervisor. Counters that count ring 0 stand still from here to pmu_overflow_arm if the hardware
 * has a switch for all of them. */
static inline __attribute__((always_inline)) bool pmu_overflow_look(uint64_t *value)
{
    uint64_t look = x86_rdmsr(pmu_overflow.look_msr);

    if (__builtin_expect(pmu_overflow.plain, 1)) {
        if (__builtin_expect(!(look & pmu_overflow.look_bits), 0))
            return false;
        *value = x86_rdpmc(pmu_overflow.counter);
        return true;
    }
    if (!((look ^ pmu_overflow.look_flip) & pmu_overflow.look_bits))
        return false; /* and nothing was stopped: rearm does not follow */
    if (pmu_overflow.control_msr)
        x86_wrmsr(pmu_overflow.control_msr, 0);
    *value = pmu_overflow.clear_msr ? x86_rdpmc(pmu_overflow.counter) : look;
    return true;
}

/* pmu_overflow_look where pmu_overflow.plain is set, or else bare. */
static inline __attribute__((always_inline)) bool pmu_overflow_look_short(bool plain,
                                                                          uint64_t *value)
{
    struct x86_halves look = x86_rdmsr_halves(pmu_overflow.look_msr);

    if (plain) {
        if (__builtin_expect(
                !((look.low & pmu_overflow.looked.low) | (look.high & pmu_overflow.looked.high)),
                0))
            return false;
        *value = x86_rdpmc(pmu_overflow.counter);
        return true;
    }
    *value = (uint64_t)look.high << 32 | look.low;
    return __builtin_expect(!(look.high & pmu_overflow.looked.high), 1);
}

/* What sets the counter to -period. */
static inline uint64_t pmu_overflow_preset(uint64_t period)
{
    return (0 - period) & pmu_overflow.counter_mask;
}

/* Acknowledges the overflow, sets the counter to -period, enables the local APIC's LVTPC entry
 * again if it is masked, and lets all counters count, in the order that loses no overflow.  Order
 * of the acknowledgement: Intel SDM volume 3B, "Counter Overflow" and "Architectural Performance
 * Monitoring Version 4"; AMD APM volume 2, "PerfMonV2". */
static inline __attribute__((always_inline)) void pmu_overflow_arm(uint64_t period, bool masked)
{
    x86_wrmsr(pmu_overflow.counter_msr, pmu_overflow_preset(period));
    if (__builtin_expect(pmu_overflow.clear_msr != 0, 1))
        x86_wrmsr(pmu_overflow.clear_msr, pmu_overflow.clear_bits);
    if (__builtin_expect(masked, 1))
        apic_pmi_enable(); /* after the status is clear, before counters of ring 0 count again */
    if (__builtin_expect(!pmu_overflow.plain && pmu_overflow.control_msr, 0))
        x86_wrmsr(pmu_overflow.control_msr, pmu_overflow.control);
}

/* Likewise pmu_overflow_arm, for the session's period. */
static inline __attribute__((always_inline)) void pmu_overflow_arm_short(bool plain, bool masked)
{
    x86_wrmsr_halves(pmu_overflow.counter_msr, &pmu_overflow.preset);
    if (plain)
        x86_wrmsr_halves(pmu_overflow.clear_msr, &pmu_overflow.cleared);
    if (__builtin_expect(masked, 1))
        apic_pmi_enable();
}
