/* Finds for whom a thread waited.
 *
 * Of a wait it is known which thread ended it.  What that thread was in when the wait began is
 * looked up in its past: at each moment, which is the beginning of a wait anywhere, the innermost
 * probed function and the request.  Changes between two moments are one: none can be asked for.
 *
 * A lock may be handed on before the waiter has it.  A thread that waited for the same lock when
 * the wait began did not hold it then: unless it held the lock longer than it had waited for it
 * since, the holder is the one for which it waited itself.
 */
#pragma once

#include "host/latency/latency_threads.h"

/* What the thread is in may have changed. */
void latency_holders_note(const struct latency_threads *t, struct latency_thread *thread);

/* The thread's wait has ended; it has ended a system call; of what it did nothing is known. */
void latency_holders_waited(struct latency_thread *thread, const struct latency_wait *wait);
void latency_holders_called(struct latency_thread *thread, const struct hr_rec_syscall *call);
void latency_holders_forget(struct latency_thread *thread);

/* Returns whom a thread waited for that `waker` made ready (0: none is known). */
struct latency_holder latency_holders_find(struct latency_threads *t, uint32_t waker,
                                           const struct latency_wait *wait);
