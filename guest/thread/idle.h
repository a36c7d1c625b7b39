/* What a workload CPU does while it has no thread: guest/thread/schedule.h. */
#ifndef GUEST_THREAD_IDLE_H
#define GUEST_THREAD_IDLE_H

#include <stdint.h>

#include "guest/cpu/cpu.h"

/* A workload CPU's life, on its boot stack: runs threads, and halts while there is none.  In shared
 * mode time passes at once, to what is due next. */
void idle_loop(struct cpu *cpu) __attribute__((noreturn));

/* By the scheduler: a thread runs from `now` on; a gap in the trace. */
void idle_ends(struct cpu *cpu, uint64_t now);

#endif
