/* Which thread runs where.
 *
 * A thread that can run is on a CPU, assigned to an idle one, or in one queue for all.  It goes to
 * the CPU where it ran last if that is idle, else to another idle one that it may use, else to the
 * queue's end.  A CPU takes time slices (SCHEDULE_SLICE_NS of the workload clock) only while the
 * queue holds a thread that it could run: with no more threads than CPUs nothing interrupts them.
 * A thread leaves its CPU in a system call that waits, or between two instructions in ring 3
 * (VECTOR_ATTENTION), never inside the kernel.
 *
 * All of it by the kernel lock's holder on a workload CPU.  In shared mode the workload clock
 * stands still from the decision to leave a thread until the next one goes on; when all threads
 * wait, it jumps to what is due next.
 */
#ifndef GUEST_THREAD_SCHEDULE_H
#define GUEST_THREAD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "guest/thread/thread.h"

#define SCHEDULE_SLICE_NS 1000000u

/* Boot: the first thread, which will start on `cpu`. */
void schedule_first(struct thread *thread, struct cpu *cpu);

/* On a CPU without a thread (guest/thread/idle.c): runs the next one that it has, until it has none
 * any more; false: none.  Nothing can run any more, and nothing can change that. */
bool schedule_run_next(struct cpu *cpu);
bool schedule_stuck(void);

/* A thread that waited, or is new, can run. */
void schedule_ready(struct thread *thread);

/* The calling thread waits until schedule_ready; where nothing can come to that any more, the run
 * ends, and `what` says where.  It may go on on another CPU. */
void schedule_block(struct thread *thread, enum hr_gap_reason reason, const char *what);

/* The calling thread lets another one have its turn, if there is one. */
void schedule_yield(struct thread *thread);

/* The calling thread ends; another one lives. */
void schedule_exit(struct thread *thread) __attribute__((noreturn));

/* thread->allowed_cpus has changed: it moves if it has to, before its next instruction. */
void schedule_move(struct thread *thread);

/* VECTOR_ATTENTION from ring 3: timers, slices.  The CPU where the thread goes on, perhaps after
 * others; schedule_return follows before it does. */
struct cpu *schedule_attend(struct cpu *cpu);
void schedule_return(struct cpu *cpu);

/* The calling thread's CPU halted in the kernel with the thread on it, and may have missed a call
 * to take slices. */
void schedule_look(struct cpu *cpu);

/* This CPU's earliest timer or the end of its slice is another one. */
void schedule_update_attention(struct cpu *cpu);

/* Ticks of the workload clock that a thread, or the whole process, ran. */
uint64_t schedule_thread_ticks(const struct thread *thread);
uint64_t schedule_process_ticks(void);
uint64_t schedule_thread_user_ticks(const struct thread *thread); /* of that in ring 3 */
uint64_t schedule_process_user_ticks(void);

/* A new thread is on its own stack for the first time, the clock stopped; signals may be delivered,
 * and then schedule_return. */
void schedule_begin(struct cpu *cpu);

/* What the program waits for outside itself; set at boot. */
struct schedule_outside {
    bool (*awaited)(void); /* a thread waits for it */
    bool (*wait)(uint64_t ns); /* shared mode, nothing can run: waits; true: it came */
};
extern struct schedule_outside schedule_outside;

#endif
