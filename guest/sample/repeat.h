/* The timer in periodic mode, in shared mode and virtual time.
 *
 * A handler of the timer's interrupt always takes the same number of instructions there, and the
 * workload clock stands still in it.  So from one grid point to the next are the interval and that
 * number, and the timer can do without being armed: under emulation, arming it is a sixth of a
 * sample's cost.  The first period must begin when the timer is programmed, inside a handler.  So
 * this handler waits until as much of it is left as a whole one takes.  Whatever else programs the
 * timer ends this first.  Samples with call stacks differ in length, and do not use it.
 *
 * Context: interrupts off, on the workload CPU. */
#ifndef GUEST_SAMPLE_REPEAT_H
#define GUEST_SAMPLE_REPEAT_H

#include "drivers/apic/apic.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"

struct repeat { /* by calibration, in ticks */
    uint64_t handler; /* a handler after which the timer is not programmed; 0: never periodic */
    uint64_t wait; /* in the handler that begins */
    uint64_t lag; /* from its look at the clock to the moment when the period begins */
    uint64_t missed; /* from when the next interrupt was expected until it came */
};
extern struct repeat repeat;

/* After a sample without a stack that was taken `late` after its grid point.  Returns true if the
 * next interrupt will come when it is due: then there is nothing to do but the EOI.  Always inline,
 * because all instructions on this way count. */
static inline __attribute__((always_inline)) bool repeat_on_time(struct cpu *cpu, uint64_t late)
{
    if (__builtin_expect(cpu->trigger.repeats_at + late != cpu->clock.enter_ticks ||
                             cpu->trigger.attention_due <= cpu->trigger.next_due,
                         0))
        return false;
    cpu->trigger.repeats_at += sampling.interval_ticks + repeat.handler;
    return true;
}

/* Otherwise: sets the timer to periodic mode, if the sample was on time and the next interrupt is
 * for a sample, too, and returns true.  Includes the EOI. */
bool repeat_begin(struct cpu *cpu, uint64_t late);

/* Sets the timer to one-shot mode.  It is stopped, or still armed for its next period. */
void repeat_end_mode(struct cpu *cpu);

static inline void repeat_end(struct cpu *cpu)
{
    if (__builtin_expect(cpu->trigger.repeats_at != 0, 0))
        repeat_end_mode(cpu);
}

#endif
