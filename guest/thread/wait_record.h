/* Notes in the trace that a thread begins to wait (manifest waits=1). */
#ifndef GUEST_THREAD_WAIT_RECORD_H
#define GUEST_THREAD_WAIT_RECORD_H

#include "guest/base/run.h"
#include "guest/thread/thread.h"

/* Writes HR_REC_WAIT and, where samples have call stacks, the stack.  Context: thread, with the
 * workload clock stopped, on the thread's own CPU. */
void wait_record(struct cpu *cpu, const struct thread *thread);

#endif
