/* What a workload CPU does while it has no thread: guest/thread/schedule.h. */
#pragma once

#include <stdint.h>

#include "guest/cpu/cpu.h"

/* The main loop of a workload CPU, on its boot stack: runs threads, and halts while there is none.
 * In shared mode it does not halt but advances the workload clock to what is due next. */
void idle_loop(struct cpu *cpu) __attribute__((noreturn));

/* Called by the scheduler when a thread is about to run at `now`: records the idle time as a gap in
 * the trace. */
void idle_ends(struct cpu *cpu, uint64_t now);
