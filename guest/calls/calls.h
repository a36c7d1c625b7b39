/* Calls of instrumented programs, in --mode latency (docs/architecture/instrumented.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"
#include "guest/cpu/cpu.h"

struct thread;

/* Prepares for the mode, if the run has it.  Context: boot, before the rings are made. */
void calls_start(void);

/* HR_ABI_CALLS: returns enum hr_abi_calls_mode, or -errno.  `shadow`: user address of the thread's
 * struct hr_abi_calls, or 0.  Context: thread, with the kernel lock, as those below. */
int64_t calls_ask(struct cpu *cpu, uint64_t shadow);

/* HR_ABI_ENTER and HR_ABI_LEAVE: records a call or its return.  Returns 0 or -errno. */
int64_t calls_told(struct cpu *cpu, const struct trap_frame *frame, bool leaves);

/* A thread ends, or its program is replaced: forgets its calls. */
void calls_thread_ends(struct thread *thread);
