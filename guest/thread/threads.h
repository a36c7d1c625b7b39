/* The program's threads: made, found, given back.  By the kernel lock's holder. */
#ifndef GUEST_THREAD_THREADS_H
#define GUEST_THREAD_THREADS_H

#include "guest/cpu/cpu.h"
#include "guest/thread/thread.h"

#define THREADS_MAX 4096 /* alive at once */

/* Boot: the first thread; the registers that it starts with are the caller's to fill. */
struct thread *threads_first(struct process *process);

/* A copy of the calling thread, as clone makes it, which schedule_ready starts.  NULL: there are
 * too many, or no memory. */
struct thread *threads_clone(const struct thread *parent, const struct trap_frame *frame);

/* It ends: it is nobody's any more, but still runs; then its memory is free. */
void threads_remove(struct thread *thread);
void threads_free(struct thread *thread);

struct thread *threads_find(uint32_t tid); /* NULL: no such thread */
struct thread *threads_any(void); /* the oldest; NULL: none */
uint32_t threads_count(void);

/* Calls for every thread, the oldest first.  It may not end any. */
void threads_each(void (*visit)(struct thread *thread, void *context), void *context);

/* The registers of its last entry from ring 3 by a system call, an exception or VECTOR_ATTENTION.
 * By any other interrupt only the last five. */
static inline struct trap_frame *threads_frame(const struct thread *thread)
{
    return (struct trap_frame *)thread->stack_top - 1;
}

/* Ends the run: every thread waits, for `what` and more, and nothing can ever wake one. */
void threads_deadlock(const char *what) __attribute__((noreturn));

/* The thread's name, NUL included. */
void threads_name(const struct thread *thread, char name[16]);

#endif
