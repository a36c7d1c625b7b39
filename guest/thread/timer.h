/* Timers of the kernel: what shall happen at a time of the workload clock.
 * On a workload CPU, by the kernel lock's holder; `expire` too, on the CPU that the timer was set
 * on.  It may send signals, wake threads and set timers, this one too; it must not wait, nor touch
 * the program's memory: there may be no current thread.  Where the workload clock can, it stands
 * still meanwhile.
 */
#ifndef GUEST_THREAD_TIMER_H
#define GUEST_THREAD_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct timer {
    uint64_t due; /* ticks of the workload clock (guest/cpu/clock.h); beyond CPU_NEVER: never */
    void (*expire)(struct timer *timer);
    bool background; /* it wakes no thread: those that wait may wait for ever all the same */
    struct timer *next, *previous; /* in the order of due; guest/thread/timer.c's own */
    struct cpu *cpu; /* the same; NULL: not set */
};

/* Sets it, or sets it anew.  One that is due already expires before the caller's system call
 * returns to the program. */
void timer_set(struct timer *timer, uint64_t due);
void timer_cancel(struct timer *timer); /* also when it is not set */

uint32_t timer_count(void); /* that are set, and not in the background */

/* guest/thread/schedule.c: has those of this CPU act that are due. */
struct cpu;
void timer_expire(struct cpu *cpu, uint64_t now);

static inline bool timer_is_set(const struct timer *timer)
{
    return timer->cpu;
}

#endif
