/* The workload clock: TSC minus what the program must not see (shared mode), or the plain TSC.
 *
 * What is taken off is *cpu->clock_offset.  In shared mode that is in the page that the program's
 * vDSO reads (guest/vdso/data.h); otherwise it is 0 for ever.
 *
 * In shared mode the sampler's and the service work's time is taken off: interrupts by
 * guest/syscall/entry.S, service work inside a system call by clock_stop() and clock_start(), what
 * follows a system call by clock_end_of_call().  Interrupts off, on the workload CPU itself;
 * clock_stop() to clock_start() in thread context.
 */
#ifndef GUEST_CPU_CLOCK_H
#define GUEST_CPU_CLOCK_H

#include "guest/cpu/cpu.h"
#include "lib/x86.h"

/* Now, in ticks. */
static inline uint64_t clock_now(const struct cpu *cpu)
{
    uint64_t stopped = cpu->clock.stopped_at & cpu->clock.stop_mask;

    return (stopped ? stopped : x86_rdtsc()) - *cpu->clock.offset;
}

/* The time of the last entry from ring 3, in ticks. */
static inline uint64_t clock_entered(const struct cpu *cpu)
{
    return cpu->clock.enter_ticks - *cpu->clock.offset;
}

/* Shared mode: the clock stands at 0 until the first return to ring 3 starts it. */
static inline void clock_reset(struct cpu *cpu)
{
    cpu->clock.enter_ticks = *cpu->clock.offset = cpu->clock.stopped_at = x86_rdtsc();
}

static inline void clock_stop(struct cpu *cpu)
{
    cpu->clock.stopped_at = x86_rdtsc();
}

/* While it is stopped: at what time. */
static inline uint64_t clock_stopped_time(const struct cpu *cpu)
{
    return cpu->clock.stopped_at - *cpu->clock.offset;
}

static inline void clock_start(struct cpu *cpu)
{
    *cpu->clock.offset += (x86_rdtsc() - cpu->clock.stopped_at) & cpu->clock.stop_mask;
    cpu->clock.stopped_at = 0;
}

/* What the CPU does from here to ring 3 is off the clock; the time at which the call ended. */
static inline uint64_t clock_end_of_call(struct cpu *cpu)
{
    cpu->clock.enter_ticks = cpu->clock.stopped_at = x86_rdtsc();
    return cpu->clock.enter_ticks - *cpu->clock.offset;
}

/* The workload clock in nanoseconds since the program started; and wall time. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);

#endif
