/* Overflow sampling: a counter that wraps around interrupts by NMI, and so sees kernel code too.
 *
 * The first event's counter starts at minus the period.  What it counted so far is
 * `overflow_base` up to when it was last set, and since then its value plus the period.  A fixed
 * period stays; one that adapts follows docs/pmu.md, "Frequency".
 */
#ifndef GUEST_SAMPLE_OVERFLOW_H
#define GUEST_SAMPLE_OVERFLOW_H

#include "guest/cpu/cpu.h"

#define OVERFLOW_PERIOD_FIRST \
    16u /* of one that adapts: it grows fast, and a rare event comes soon */

/* Routes this CPU's counter overflows to the NMI and forgets what was counted; then the driver's
 * start.  Interrupts off. */
void overflow_start(struct cpu *cpu);

/* No more NMIs; the counter goes on. */
void overflow_stop(void);

/* Rests while cpu->paused, which is set.  The counter goes on without overflows: one would freeze
 * all counters where the hardware does that. */
void overflow_pause(struct cpu *cpu);

/* cpu->paused is not set any more: samples again, the first one a period from now. */
void overflow_resume(struct cpu *cpu, uint64_t now);

/* `time`, or that of the last sample: one in the kernel may be later than what the workload clock
 * shows afterwards, because only then it became clear that the clock did not run. */
static inline uint64_t overflow_not_before(const struct cpu *cpu, uint64_t time)
{
    uint64_t last = *(const volatile uint64_t *)&cpu->overflow.latest;

    return (int64_t)(time - last) < 0 ? last : time;
}

/* All counters as run.pmu->read gives them, but the first event's whole count.  Not in NMI context.
 */
void overflow_read(struct cpu *cpu, uint64_t *values);

/* The next period of one that adapts: after `counted` events in `ticks`, of which wanted_ticks are
 * wanted.  At least 1.  The formula: docs/pmu.md, "Frequency". */
uint64_t overflow_next_period(struct overflow_rate *rate, uint64_t period, uint64_t counted,
                              uint64_t ticks, uint64_t wanted_ticks);

#endif
