/* The observer of instrumented programs: what the service CPU sees in threads' shadow stacks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/hr_abi.h"

#define CALLS_OBSERVED_MAX 128u /* threads at a time */

struct thread;

/* Makes the observer's ring known to the trace.  Context: boot, after trace_init. */
void calls_observe_start(void);

/* The current thread has a shadow stack.  Returns 0, -EINVAL, -ENOMEM or -ENOSPC.  Context: thread,
 * with the kernel lock, as those of the two functions below. */
int calls_observe(struct cpu *cpu, const struct hr_abi_calls *calls);

/* A child of fork has a copy of its parent's stack; it does not run yet. */
void calls_observe_forked(const struct thread *parent, const struct thread *child);

/* The thread's stack ends: returns when the observer has looked for the last time. */
void calls_observe_ends(const struct thread *thread);

/* Service context.  calls_scan looks at all stacks once; returns whether there are any. calls_drain
 * is trace_drain for the observer's ring.  calls_finish looks for the last time. */
bool calls_scan(void);
bool calls_drain(bool flush);
void calls_finish(void);
