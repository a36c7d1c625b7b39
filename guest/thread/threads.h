/* Makes, finds and frees the program's threads.  Context: with the kernel lock held. */
#pragma once

#include "guest/cpu/cpu.h"
#include "guest/thread/thread.h"

#define THREADS_MAX 12288 /* alive at once, of all processes */

/* Boot: makes the first thread.  The caller fills in its initial registers. */
struct thread *threads_first(struct process *process);

/* Makes a copy of the calling thread, as clone does; schedule_ready starts it.  It is one of
 * `process`: the caller's or, with tid == pid, a new one's first.  Returns NULL if there are too
 * many threads or no memory. */
struct thread *threads_clone(const struct thread *parent, struct process *process, uint32_t tid,
                             const struct trap_frame *frame);
uint32_t threads_new_tid(void); /* a number that no thread, process, group or session has */
uint32_t threads_last_tid(void); /* the last such number */

/* threads_remove takes an ending thread, which still runs, off all lists; threads_free then frees
 * its memory. */
void threads_remove(struct thread *thread);
void threads_free(struct thread *thread);

struct thread *threads_find(uint32_t tid); /* NULL: no such thread */
struct thread *threads_any(void); /* the oldest of the first process; NULL: none */
uint32_t threads_count(void); /* of all processes */

/* Makes the calling thread, the only one of its process, the first one: its tid becomes the
 * process's pid. */
void threads_lead(struct thread *thread);

/* Calls `visit` for every thread of the process, oldest first.  `visit` must not end a thread. */
void threads_each(const struct process *process,
                  void (*visit)(struct thread *thread, void *context), void *context);

/* Returns the registers of its last entry from ring 3 by a system call, an exception or
 * VECTOR_ATTENTION.  After any other interrupt only the last five are valid. */
static inline struct trap_frame *threads_frame(const struct thread *thread)
{
    return (struct trap_frame *)thread->stack_top - 1;
}

/* Ends the run: every thread waits, one of them for `what`, and nothing can ever wake one. */
void threads_deadlock(const char *what) __attribute__((noreturn));

/* Copies the thread's name, NUL included. */
void threads_name(const struct thread *thread, char name[16]);

/* Names the thread after the last part of the path by which its program was called. */
void threads_set_name(struct thread *thread, const char *path);
