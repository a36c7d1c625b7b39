/* The program's threads: one on each workload CPU that is not idle.
 * By the kernel lock's holder, except threads_loop.
 */
#ifndef GUEST_THREADS_H
#define GUEST_THREADS_H

#include "guest/cpu.h"
#include "guest/thread.h"

#define THREADS_MAX CPUS_MAX

/* Boot: the first thread, to live on `cpu`; its start frame is the caller's to fill. */
struct thread *threads_first(struct process *process, struct cpu *cpu);

struct thread *threads_find(uint32_t tid); /* NULL: no such thread */
uint32_t threads_count(void);

/* Calls for every thread, in no order. */
void threads_each(void (*visit)(struct thread *thread, void *context), void *context);

/* A workload CPU without a thread; NULL: all have one. */
struct cpu *threads_idle_cpu(void);

/* A copy of `parent` as clone makes it, that waits for threads_start to run on an idle CPU. */
struct thread *threads_clone(const struct thread *parent, const struct trap_frame *frame,
                             struct cpu *cpu);
void threads_start(struct thread *thread);

/* The calling thread ends; another one lives. */
void threads_exit(struct thread *thread) __attribute__((noreturn));

/* A workload CPU's life: runs the thread that it is given, and waits for the next one. */
void threads_loop(struct cpu *cpu) __attribute__((noreturn));

/* True when every thread, or every one but `leaving`, waits for what no other source can bring. */
bool threads_stuck(const struct thread *leaving);

/* Ticks that a thread, or the whole process, did not wait. */
uint64_t threads_used_ticks(const struct thread *thread);
uint64_t threads_process_ticks(void);

/* Writes a record that another thread (0: none) runs on this CPU from now on. */
void threads_record_switch(struct cpu *cpu, uint64_t time, uint32_t from, uint32_t to,
                           enum hr_switch_reason reason);

#endif
