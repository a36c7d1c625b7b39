/* Futexes that name their owner (PI): the owner's tid is in the word, with FUTEX_WAITERS while
 * others wait in the kernel, and the kernel hands the lock on.  There are no priorities here to
 * inherit.  The arguments of system calls are in the frame as in guest/syscall/futex/futex.c. */
#pragma once

#include "guest/thread/thread.h"

/* Locks the futex.  Returns 0, -EDEADLK if the caller owns it, -ESRCH if its owner is no thread,
 * -ETIMEDOUT after `ns`, -EAGAIN if it is owned and `try` is set, or -EFAULT. */
int64_t futex_pi_lock(struct thread *thread, struct trap_frame *frame, uint64_t key, uint64_t ns,
                      bool try);
int64_t futex_pi_unlock(const struct thread *thread, uint64_t address,
                        uint64_t key); /* -EPERM: not the owner */

/* Call when a thread ends: hands the futexes that it owns to threads that wait for them. */
void futex_pi_thread_ends(const struct thread *thread);
