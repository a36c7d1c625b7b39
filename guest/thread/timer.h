/* Kernel timers: each calls `expire` at a time of the workload clock.
 *
 * `expire` runs on the CPU that set the timer.  It may send signals, wake threads and set timers,
 * its own included.  It must not wait or touch the program's memory: there may be no current
 * thread.  The workload clock stands still while it runs, where that is possible.
 *
 * Context: workload CPU, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
    uint64_t due; /* ticks of the workload clock (guest/cpu/clock.h); beyond CPU_NEVER: never */
    void (*expire)(struct timer *timer);
    bool background; /* wakes no thread: does not count against schedule_stuck() */
    struct timer *next, *previous; /* in the order of `due`; private to guest/thread/timer.c */
    struct cpu *cpu; /* on which it is set, NULL: not set; private to guest/thread/timer.c */
};

/* Sets a timer, or changes one that is set.  If it is due already, it expires before the caller's
 * system call returns to the program. */
void timer_set(struct timer *timer, uint64_t due);
void timer_cancel(struct timer *timer); /* does nothing if it is not set */

uint32_t timer_count(void); /* returns how many are set, without those in the background */

/* For guest/thread: expires those of this CPU's timers that are due. */
struct cpu;
void timer_expire(struct cpu *cpu, uint64_t now);

static inline bool timer_is_set(const struct timer *timer)
{
    return timer->cpu != NULL;
}
