/* What programs say about memory ahead of using it: madvise, mlock, MAP_POPULATE. */
#ifndef GUEST_VM_VM_ADVISE_H
#define GUEST_VM_VM_ADVISE_H

#include "guest/vm/vm.h"

/* madvise: 0 or -errno.  What only advises is accepted where something is mapped. */
int vm_advise(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t advice);

enum vm_populate {
    VM_POPULATE_READ, /* as a read of every page would */
    VM_POPULATE_WRITE, /* as a write would */
    VM_POPULATE_ALLOWED, /* as a write where private memory can be written, else as a read */
};

/* Fills start..end-1 where there are areas and they allow it.  0, -ENOMEM; -ENXIO: reached the end
 * of a file; -EACCES: an area does not allow it (READ and WRITE). */
int vm_populate(struct vm_space *space, uint64_t start, uint64_t end, enum vm_populate how);

/* Memory that has just been mapped or may be used in a new way: filled at once where that was asked
 * for, by mlock or for the whole run.  The latter leaves the last quarter of memory alone. */
void vm_new_memory(struct vm_space *space, uint64_t start, uint64_t end);

/* mlock and munlock: -ENOMEM where nothing is mapped, -EAGAIN when memory is out. */
int vm_lock(struct vm_space *space, uint64_t address, uint64_t bytes, bool lock, bool fill);

/* mincore: whether each page of address.. is in memory, one byte a page, `count` of them. */
void vm_resident(const struct vm_space *space, uint64_t address, uint8_t *out, uint64_t count);

#endif
