/* Futexes: threads that wait for a word of memory to change. */
#pragma once

#include "guest/thread/thread.h"

/* Call when a thread ends, or gives up its memory: clears the word that clone's CHILD_CLEARTID or
 * set_tid_address named, and releases the robust mutexes that it holds. */
void futex_thread_ends(struct thread *thread);
