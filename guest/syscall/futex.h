/* Futexes: threads that wait for a word of memory to change. */
#ifndef GUEST_SYSCALL_FUTEX_H
#define GUEST_SYSCALL_FUTEX_H

#include "guest/thread/thread.h"

struct futex_key {
    uint64_t address; /* as the key of a wait (guest/thread/wait.h) */
    const struct vm_space *space; /* in which it is; NULL: it is the kernel's pointer to the word */
};

/* Returns what identifies a futex of the calling thread. */
struct futex_key futex_key_of(const struct thread *thread, uint64_t address, bool private);

/* Call when a thread ends, or gives up its memory: clears the word that clone's CHILD_CLEARTID or
 * set_tid_address named, and releases the robust mutexes that it holds. */
void futex_thread_ends(struct thread *thread);

#endif
