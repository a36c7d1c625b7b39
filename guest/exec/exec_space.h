/* The address space of a new program.  Context: thread, with the kernel lock held. */
#ifndef GUEST_EXEC_EXEC_SPACE_H
#define GUEST_EXEC_EXEC_SPACE_H

#include "guest/thread/process.h"

/* Returns an empty space with the limits of another one, or NULL without memory. */
struct vm_space *exec_space_new(const struct vm_space *old);

/* Gives the calling thread's process, of which it is the only thread, a space of exec_space_new. */
void exec_space_switch(struct process *process, struct vm_space *space);

#endif
