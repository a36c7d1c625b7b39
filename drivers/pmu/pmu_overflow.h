/* Overflow sampling: what the handler of a counter's interrupt reads and writes, determined at
 * start. */
#ifndef DRIVERS_PMU_PMU_OVERFLOW_H
#define DRIVERS_PMU_PMU_OVERFLOW_H

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
} __attribute__((aligned(64)));

/* Part of pmu_driver.start if the session has a period, before any counter counts; alike on every
 * CPU.  Acknowledges what an earlier session left.  Returns the value to preset the counter to. */
uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period);

/* Part of pmu_driver.stop: an interrupt still on its way finds no overflow where there is a status
 * register, so that rearm does not start the counters again. */
void pmu_overflow_clear(void);

/* What start determined; alike on every CPU. */
extern struct pmu_overflow pmu_overflow;

/* pmu_driver.overflowed and rearm, of every driver whose counters interrupt; here so that the
 * handler need not call them.  No register here can fault: start has used them all.  (A fault
 * in an NMI's handler would let the next NMI in: SDM volume 3A, "Handling Multiple NMIs".) */
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

static inline __attribute__((always_inline)) void pmu_overflow_arm(uint64_t period, bool masked)
{
    x86_wrmsr(pmu_overflow.counter_msr, (0 - period) & pmu_overflow.counter_mask);
    if (__builtin_expect(pmu_overflow.clear_msr != 0, 1))
        x86_wrmsr(pmu_overflow.clear_msr, pmu_overflow.clear_bits);
    if (__builtin_expect(masked, 1))
        apic_pmi_enable(); /* after the status is clear, before counters of ring 0 count again */
    if (__builtin_expect(!pmu_overflow.plain && pmu_overflow.control_msr, 0))
        x86_wrmsr(pmu_overflow.control_msr, pmu_overflow.control);
}

uint64_t pmu_overflow_seen(const struct pmu_session *session);
void pmu_overflow_rearm(const struct pmu_session *session, uint64_t period, bool masked);

#endif
