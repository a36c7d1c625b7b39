/* Ending a process's threads: for exit_group, fatal signals and execve.  Context: thread, with the
 * kernel lock held. */
#pragma once

#include "guest/thread/thread.h"

/* Makes all other threads of the process of `self` end, as SIGKILL does on Linux: each returns
 * from its system call, if it is in one, with -EINTR, and ends before its next instruction in
 * ring 3.  Returns true when `self` is the only thread, and false if another thread has begun to
 * do so before, or SIGKILL came: it is pending for `self`, which then ends like the
 * others.  May return on another CPU. */
bool threads_end_others(struct thread *self);

/* Returns true if the thread is to end: another one called threads_end_others, or SIGKILL came. */
static inline bool threads_ends(const struct thread *thread)
{
    return thread->process->ender != NULL && thread->process->ender != thread;
}

/* Ends the calling thread, which must not be the last one of the run. */
void threads_end(struct thread *thread) __attribute__((noreturn));

/* Releases what a thread has that ends and, if it is the last one, what its process has.  Set at
 * boot. */
extern void (*threads_release)(struct thread *thread);
