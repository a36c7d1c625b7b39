/* What CPUs that run threads of one program need of each other: the kernel lock, forgotten
 * translations, the end of the run.
 *
 * One lock covers the kernel: a CPU that came from ring 3 by a system call, an exception or
 * VECTOR_ATTENTION holds it, with interrupts off, until it returns or halts; it passes from thread
 * to thread when they switch.  The service CPU takes it to wake threads.  It is taken only where
 * there are several CPUs.  Samplers and NMI handlers never take it.  A CPU that
 * spins for the lock answers calls meanwhile, so that the holder may wait for answers.
 */
#ifndef GUEST_CPU_CROSS_H
#define GUEST_CPU_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

extern bool cross_several; /* there are several CPUs; set before the program starts */

struct cross_hooks { /* what the service does for CPUs that wait; set at boot */
    void (*stop)(struct cpu *cpu); /* another CPU ends the run; does not return */
    void (*relieve)(void); /* CPU 0: makes room in the rings */
};
extern struct cross_hooks cross_hooks;

void cross_lock_wait(struct cpu *cpu);
void cross_lock_give(void);

static inline void cross_lock(struct cpu *cpu)
{
    if (cross_several)
        cross_lock_wait(cpu);
}

static inline void cross_unlock(void)
{
    if (cross_several)
        cross_lock_give();
}

/* Has a workload CPU look at what concerns it: cross_answer, signals, what it waits for. */
void cross_call(const struct cpu *cpu);

/* On the CPU that was called, interrupts off, the lock not held.  Does not return when the run
 * ends. */
void cross_answer(struct cpu *cpu);

/* By the lock's holder: no CPU that runs a thread uses an old translation of start..end-1 when this
 * returns.  An empty range is a memory barrier on all of them. */
void cross_flush(uint64_t start, uint64_t end);

/* By the lock's holder, on a CPU that is about to run a thread and had none: it forgets what the
 * others flushed meanwhile. */
void cross_catch_up(struct cpu *cpu);

/* By the lock's holder, once: no other workload CPU runs the program any more when this returns;
 * their counters are in cpus[].totals. */
void cross_stop_others(struct cpu *self);

#endif
