/* struct rusage.  Context: thread, with the kernel lock held. */
#pragma once

#include <stdint.h>

#include "guest/thread/process.h"

/* Stores what was used at `user`.  Returns 0 or -EFAULT. */
int usage_write(uint64_t user, uint64_t all_ticks, uint64_t user_ticks,
                const struct thread_use *use);

/* usage_write for a process and the children that it has waited for, as wait4 gives it. */
int usage_write_process(uint64_t user, const struct process *process);
