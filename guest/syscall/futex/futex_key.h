/* What identifies a futex: a thread that waits for it waits for this key (guest/thread/wait.h).
 *
 * A private futex is an address in an address space.  One of shared memory is a place in an inode,
 * so that it is the same futex at every address and in every process.  Private keys have bits 0 to
 * 61, shared ones bit 62, and those of the kernel's own objects bit 63. */
#pragma once

#include "guest/thread/thread.h"

#define FUTEX_KEY_SHARED (1ull << 62)

static inline uint64_t futex_key_private(const struct thread *thread, uint64_t address)
{
    return thread->process->space->futex_keys | address;
}

/* The key of a futex that other processes may use, too; 0: -EFAULT. */
uint64_t futex_key_shared(const struct thread *thread, uint64_t address);
