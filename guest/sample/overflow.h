/* Overflow sampling: a counter that wraps around raises an NMI, which also samples kernel code.
 *
 * The first event's counter starts at minus the period.  Its whole count is overflow.base, counted
 * until the counter was last set, plus its value, plus the period.  A fixed period never changes;
 * an adaptive one follows docs/pmu.md, "Frequency".
 */
#ifndef GUEST_SAMPLE_OVERFLOW_H
#define GUEST_SAMPLE_OVERFLOW_H

#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"

#define OVERFLOW_PERIOD_FIRST \
    16u /* first adaptive period: grows fast, and a rare event comes soon */

/* Routes this CPU's counter overflows to the NMI and forgets what was counted.  The caller then
 * calls the driver's start.  Context: interrupts off. */
void overflow_start(struct cpu *cpu);

/* Stops the NMIs; the counter keeps counting. */
void overflow_stop(void);

/* Stops sampling; call it with trigger.paused set.  The counter keeps counting with the longest
 * period: an overflow would freeze all counters on some hardware. */
void overflow_pause(struct cpu *cpu);

/* Samples again after trigger.paused was cleared; the first sample comes one period from now. */
void overflow_resume(struct cpu *cpu, uint64_t now);

/* Of the ring, at most for a sample: with stolen time and a new period. */
#define OVERFLOW_SLOTS 3u

/* Most samples are alike, and take a short way with fewer questions, of which there are two by what
 * registers there are: cpu->overflow.way.  With a service CPU they mostly take a brief one, which
 * is in assembly: cpu->brief.  What makes a sample unlike the others has it and the next one take
 * the long way, on which a sample looks whether the next one may take a shorter one. */
void overflow_find_way(struct cpu *cpu);
void overflow_find_room(struct cpu *cpu); /* with a service CPU, for the brief way alone */

static inline void overflow_take_long(struct cpu *cpu)
{
    cpu->overflow.way = OVERFLOW_LONG;
    cpu->brief.room = 0;
}

/* Returns the later of `time` and the last sample's time.  A sample in the kernel may be later than
 * what the workload clock shows afterwards: only then is it known that the clock did not run. */
static inline uint64_t overflow_not_before(const struct cpu *cpu, uint64_t time)
{
    uint64_t last = *(const volatile uint64_t *)&cpu->overflow.latest;

    return (int64_t)(time - last) < 0 ? last : time;
}

/* Returns what the first event's counter, which holds `value`, has counted since it was set to
 * minus the period. */
static inline uint64_t overflow_counted(const struct cpu *cpu, uint64_t value)
{
    return (value + cpu->overflow.period) & sampling.overflow_mask;
}

/* Reads all counters as run.pmu->read does, except that the first event's value is its whole count.
 * Not in NMI context. */
void overflow_read(struct cpu *cpu, uint64_t *values);

/* Returns the next adaptive period, at least 1, after `counted` events in `ticks`; samples shall be
 * wanted_ticks apart.  docs/pmu.md, "Frequency", has the formula. */
uint64_t overflow_next_period(struct overflow_rate *rate, uint64_t period, uint64_t counted,
                              uint64_t ticks, uint64_t wanted_ticks);

#endif
