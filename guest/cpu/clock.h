/* The workload clock: TSC minus what the program must not see (shared mode), or the plain TSC.
 *
 * The difference is *cpu->clock.offset.  In shared mode it is in the page that the program's vDSO
 * reads (guest/vdso/data.h); otherwise it is always 0.
 *
 * Shared mode takes the time of the sampler and of service work off: guest/syscall/entry_*.S does
 * so for interrupts, clock_stop() and clock_start() for service work inside a system call, and
 * clock_end_of_call() for what follows a system call.  Context: interrupts off, on the workload CPU
 * itself; clock_stop() to clock_start(): thread.
 */
#pragma once

#include "guest/cpu/cpu.h"
#include "lib/x86.h"

/* Returns the workload clock, in ticks. */
static inline uint64_t clock_now(const struct cpu *cpu)
{
    uint64_t stopped = cpu->clock.stopped_at & cpu->clock.stop_mask;

    return (stopped ? stopped : x86_rdtsc()) - *cpu->clock.offset;
}

/* Returns the time of the last entry from ring 3, in ticks. */
static inline uint64_t clock_entered(const struct cpu *cpu)
{
    return cpu->clock.enter_ticks - *cpu->clock.offset;
}

/* Shared mode: sets the clock to 0; the first return to ring 3 starts it. */
static inline void clock_reset(struct cpu *cpu)
{
    cpu->clock.enter_ticks = *cpu->clock.offset = cpu->clock.stopped_at = x86_rdtsc();
}

static inline void clock_stop(struct cpu *cpu)
{
    cpu->clock.stopped_at = x86_rdtsc();
}

/* Returns the time at which the clock stands; only while it is stopped. */
static inline uint64_t clock_stopped_time(const struct cpu *cpu)
{
    return cpu->clock.stopped_at - *cpu->clock.offset;
}

static inline void clock_start(struct cpu *cpu)
{
    *cpu->clock.offset += (x86_rdtsc() - cpu->clock.stopped_at) & cpu->clock.stop_mask;
    cpu->clock.stopped_at = 0;
}

/* Takes what the CPU does from here to ring 3 off the clock.  Returns the time at which the call
 * ended. */
static inline uint64_t clock_end_of_call(struct cpu *cpu)
{
    cpu->clock.enter_ticks = cpu->clock.stopped_at = x86_rdtsc();
    return cpu->clock.enter_ticks - *cpu->clock.offset;
}

/* Return the workload clock in nanoseconds since the program started, and wall time. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);
