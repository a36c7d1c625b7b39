/* Notes in the trace that a thread begins to wait, and when its wait ended (manifest waits=1). */
#pragma once

#include "guest/base/run.h"
#include "guest/thread/thread.h"

/* Writes HR_REC_WAIT and, where samples have call stacks, the stack.  Context: thread, with the
 * workload clock stopped, on the thread's own CPU. */
void wait_record(struct cpu *cpu, const struct thread *thread);

/* Writes HR_REC_WAKE for a thread that is about to run after a wait.  Context: likewise, on the CPU
 * that it is to run on. */
void wait_record_end(struct cpu *cpu, const struct thread *thread);
