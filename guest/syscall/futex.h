/* Futexes: threads that wait for a word of memory to change. */
#ifndef GUEST_SYSCALL_FUTEX_H
#define GUEST_SYSCALL_FUTEX_H

#include "guest/thread/thread.h"

/* What the end of a thread means to others: the word that clone's CHILD_CLEARTID or
 * set_tid_address named, and the robust mutexes that it holds. */
void futex_thread_ends(struct thread *thread);

#endif
