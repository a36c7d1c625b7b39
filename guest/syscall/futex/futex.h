/* Futexes: threads that wait for a word of memory to change. */
#ifndef GUEST_SYSCALL_FUTEX_H
#define GUEST_SYSCALL_FUTEX_H

#include "guest/thread/thread.h"

/* Call when a thread ends, or gives up its memory: clears the word that clone's CHILD_CLEARTID or
 * set_tid_address named, and releases the robust mutexes that it holds. */
void futex_thread_ends(struct thread *thread);

#endif
