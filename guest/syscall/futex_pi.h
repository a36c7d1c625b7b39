/* Futexes that say who owns them (PI): the owner's tid is in the word, with FUTEX_WAITERS while
 * others wait in the kernel, and the kernel hands the lock on.  There are no priorities here that
 * could be inherited.  System calls' arguments are in the frame as in guest/syscall/futex.c.
 */
#ifndef GUEST_SYSCALL_FUTEX_PI_H
#define GUEST_SYSCALL_FUTEX_PI_H

#include "guest/thread/thread.h"

/* 0; -EDEADLK: it is the caller's; -ESRCH: its owner is no thread; -ETIMEDOUT after `ns`;
 * -EAGAIN when it is somebody's and `try`; -EFAULT. */
int64_t futex_pi_lock(struct thread *thread, struct trap_frame *frame, uint64_t ns, bool try);
int64_t futex_pi_unlock(const struct thread *thread, uint64_t address); /* -EPERM: not the owner */

/* What a thread that ends owns goes to those that wait for it. */
void futex_pi_thread_ends(const struct thread *thread);

#endif
