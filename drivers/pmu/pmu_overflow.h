/* Overflow sampling: what the handler of a counter's interrupt reads and writes, determined at
 * start. */
#ifndef DRIVERS_PMU_PMU_OVERFLOW_H
#define DRIVERS_PMU_PMU_OVERFLOW_H

#include <stdint.h>

#include "drivers/pmu/pmu.h"

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
} __attribute__((aligned(64)));

/* Part of pmu_driver.start if the session has a period, before any counter counts; alike on every
 * CPU.  Acknowledges what an earlier session left.  Returns the value to preset the counter to. */
uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period);

/* Part of pmu_driver.stop: an interrupt still on its way finds no overflow where there is a status
 * register, so that rearm does not start the counters again. */
void pmu_overflow_clear(void);

/* pmu_driver.overflowed and rearm.  No register here can fault: start has used them all.  (A fault
 * in an NMI's handler would let the next NMI in: SDM volume 3A, "Handling Multiple NMIs".) */
uint64_t pmu_overflow_seen(const struct pmu_session *session);
void pmu_overflow_rearm(const struct pmu_session *session, uint64_t period, bool masked);

#endif
