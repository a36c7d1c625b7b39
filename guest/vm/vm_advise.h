/* What programs say about memory ahead of using it: madvise, mlock, MAP_POPULATE. */
#pragma once

#include "guest/vm/vm.h"

/* madvise; returns 0 or -errno.  Accepts and ignores mere advice where something is mapped. */
int vm_advise(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t advice);

enum vm_populate {
    VM_POPULATE_READ, /* as a read of every page would */
    VM_POPULATE_WRITE, /* as a write would */
    VM_POPULATE_ALLOWED, /* as a write where private memory can be written, else as a read */
};

/* Fills start..end-1 where there are areas and they allow it.  Returns 0, -ENOMEM, -ENXIO if it
 * reached the end of a file, or -EACCES if an area does not allow it (READ and WRITE). */
int vm_populate(struct vm_space *space, uint64_t start, uint64_t end, enum vm_populate how);

/* Called when memory was mapped or its protection changed: fills it at once if mlock or the whole
 * run asks for that.  The latter leaves the last quarter of memory alone. */
void vm_new_memory(struct vm_space *space, uint64_t start, uint64_t end);

/* mlock and munlock.  Returns 0, -ENOMEM if nothing is mapped there, or -EAGAIN if out of memory.
 */
int vm_lock(struct vm_space *space, uint64_t address, uint64_t bytes, bool lock, bool fill);

/* mincore: stores for each of the `count` pages from `address` on, in one byte each, whether it is
 * in memory. */
void vm_resident(const struct vm_space *space, uint64_t address, uint8_t *out, uint64_t count);
