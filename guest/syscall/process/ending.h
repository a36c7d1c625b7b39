/* The end of threads and processes.  Context: thread, with the kernel lock held. */
#pragma once

#include "guest/thread/thread.h"

/* threads_release: releases what the calling thread has, which ends.  If it is its process's last
 * one, that ends: it gives up memory and files, its children get another parent, and its own parent
 * is told.  The end of the first process ends the run. */
void ending_release(struct thread *thread);

/* The thread's process ends, or begins another program: a parent that waits in vfork continues. */
void ending_vfork(struct process *process);
