/* Decides which thread runs on which CPU.
 *
 * A thread that can run is on a CPU, assigned to an idle one, or in the one queue.  It goes to the
 * CPU where it ran last if that is idle, else to another idle CPU that it may use, else to the end
 * of the queue.  A CPU has time slices (SCHEDULE_SLICE_NS of the workload clock) only while the
 * queue holds a thread that it could run: with no more threads than CPUs nothing interrupts them.
 * A thread leaves its CPU in a system call that waits, or between two instructions in ring 3
 * (VECTOR_ATTENTION), never inside the kernel.
 *
 * In shared mode the workload clock stands still from the decision to leave a thread until the next
 * one runs; when all threads wait, it jumps to what is due next.
 *
 * Context: workload CPU, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "guest/thread/thread.h"

#define SCHEDULE_SLICE_NS 1000000u

/* Boot: makes the first thread start on `cpu`. */
void schedule_first(struct thread *thread, struct cpu *cpu);

/* Called on a CPU without a thread (guest/thread/idle.c).  Runs threads until it finds none for
 * this CPU; returns false if there was none at first.  schedule_stuck returns true if no thread can
 * run and nothing can ever wake one. */
bool schedule_run_next(struct cpu *cpu);
bool schedule_stuck(void);

/* Makes a thread runnable: a new one, or one that waited. */
void schedule_ready(struct thread *thread);

/* The calling thread waits until schedule_ready.  If nothing can ever wake it, ends the run and
 * reports `what`.  May return on another CPU. */
void schedule_block(struct thread *thread, enum hr_gap_reason reason, const char *what);

/* The calling thread lets another one run first, if one is queued for its CPU or its CPU is no
 * longer allowed. */
void schedule_yield(struct thread *thread);

/* Ends the calling thread, which must not be the last one of all. */
void schedule_exit(struct thread *thread) __attribute__((noreturn));

/* thread->schedule.allowed_cpus has changed: moves the thread, if it must, before its next
 * instruction. */
void schedule_move(struct thread *thread);

/* Handles VECTOR_ATTENTION from ring 3: timers and slices.  Other threads may run before it
 * returns; returns the CPU on which the thread is then.  Call schedule_return before going back to
 * ring 3. */
struct cpu *schedule_attend(struct cpu *cpu);
void schedule_return(struct cpu *cpu);

/* The calling thread's CPU halted inside the kernel, and may have missed a call to begin a slice:
 * begins one if another thread wants the CPU. */
void schedule_look(struct cpu *cpu);

/* Call after this CPU's earliest timer or the end of its slice has changed. */
void schedule_update_attention(struct cpu *cpu);

/* Return ticks of the workload clock that a thread, or a whole process, ran. */
uint64_t schedule_thread_ticks(const struct thread *thread);
uint64_t schedule_process_ticks(const struct process *process);
uint64_t schedule_thread_user_ticks(const struct thread *thread); /* only those in ring 3 */
uint64_t schedule_process_user_ticks(const struct process *process);

/* The calling thread came by VECTOR_ATTENTION or is new (thread->schedule.between), and is about to
 * wait or to end as in a system call: schedule_enter.  When it has waited: schedule_leave. */
void schedule_enter(struct thread *thread);
void schedule_leave(struct thread *thread);

/* First code of a new thread on its own stack, with the clock stopped.  Afterwards signals may be
 * delivered; then call schedule_return. */
void schedule_begin(struct cpu *cpu);

/* Input from outside the program that threads may wait for; set at boot. */
struct schedule_outside {
    bool (*awaited)(void); /* returns true if a thread waits for it */
    /* Shared mode, when idle: waits for it.  Returns true if it came; *passed_ns is then how much
     * of `ns` the program sees as time. */
    bool (*wait)(uint64_t ns, uint64_t *passed_ns);
};
extern struct schedule_outside schedule_outside;
