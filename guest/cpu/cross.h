/* What the CPUs that run the program's threads need of each other: the kernel lock, TLB flushes,
 * the end of the run.
 *
 * One lock covers the kernel.  A CPU that came from ring 3 by a system call, an exception or
 * VECTOR_ATTENTION holds it, with interrupts off, until it returns or halts; a thread switch passes
 * it on.  The service CPU takes it to wake threads.  With one CPU it is not taken at all.  Samplers
 * and NMI handlers never take it.  A CPU that spins for the lock answers calls while it waits, so
 * that the holder may wait for answers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

extern bool cross_several; /* there are several CPUs; set before the program starts */

struct cross_hooks { /* what guest/service does for waiting CPUs; set at boot */
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

/* Interrupts a workload CPU, which then runs cross_answer and looks at its signals and at what it
 * waits for. */
void cross_call(const struct cpu *cpu);

/* Answers a call.  Does not return if the run ends.  Context: the called CPU, interrupts off, the
 * lock not held. */
void cross_answer(struct cpu *cpu);

/* By the lock's holder: when this returns, no CPU that runs a thread in the address space, or in
 * any if it is NULL, uses an old translation of start..end-1.  An empty range is a memory barrier
 * on all of them.  That stays right when CPUs change spaces: only the lock's holder loads another
 * one, so none does while it is asked; and loading one flushes all translations of the program's
 * half, which has none that are global.  A CPU without a thread is not asked.  It keeps the space
 * of its last thread and what it remembers of it, but uses none of that before it has loaded a
 * space or called cross_catch_up. */
void cross_flush(const struct vm_space *space, uint64_t start, uint64_t end);

/* The service CPU reads the program's memory between these two, through page tables and without
 * the lock: cross_flush returns when no such look is under way that may have found an old
 * translation.  Nothing in between may wait.  Context: service CPU. */
extern uint64_t cross_looks; /* odd during a look; atomic */

static inline void cross_look_begin(void)
{
    __atomic_store_n(&cross_looks, cross_looks + 1, __ATOMIC_SEQ_CST);
}

static inline void cross_look_end(void)
{
    __atomic_store_n(&cross_looks, cross_looks + 1, __ATOMIC_RELEASE);
}

/* By the lock's holder, on a CPU that had no thread and is about to run one: flushes what the
 * others flushed since it last ran one. */
void cross_catch_up(struct cpu *cpu);

/* By the lock's holder, once: stops the program on all other workload CPUs; their counters are in
 * cpus[].totals when this returns. */
void cross_stop_others(struct cpu *self);
