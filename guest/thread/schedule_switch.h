/* How a CPU leaves one thread and continues with another one.  For guest/thread/schedule*.c, with
 * their context. */
#pragma once

#include "guest/thread/schedule.h"

/* Stops the workload clock (in shared mode) and pauses what counts ring 0, until the next thread or
 * schedule_begin runs. */
void schedule_stop(struct cpu *cpu);

/* Switches to another thread, or to the idle loop (NULL).  Call after schedule_stop().  Returns
 * when this context runs again, perhaps on another CPU, with the clock stopped. */
void schedule_switch_to(struct cpu *cpu, struct thread *to, enum hr_switch_reason reason);

/* Continues the thread inside its system call. */
void schedule_go_on(struct cpu *cpu);

/* Begins a slice: when a thread gets the CPU, or when another one begins to want it. */
void schedule_begin_slice(struct cpu *cpu, uint64_t now);
