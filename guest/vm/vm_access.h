/* The kernel's access to the program's memory: through the direct map, so that no user mapping has
 * to be loaded and none is ever touched in ring 0.  Context: thread, interrupts off. */
#pragma once

#include "guest/vm/vm.h"

enum vm_access_kind {
    VM_ACCESS_READ,
    VM_ACCESS_WRITE,
    VM_ACCESS_FORCE /* whatever the protection */
};

/* Makes the page at `address` present; gives a pointer to that byte and the number of bytes up to
 * the page's end.  Returns 0, -EFAULT or -ENOMEM. */
int vm_access(struct vm_space *space, uint64_t address, enum vm_access_kind kind, void **pointer,
              uint64_t *room);

/* Zeroes mapped memory, whatever its protection.  Returns 0, -EFAULT or -ENOMEM. */
int vm_zero(struct vm_space *space, uint64_t address, uint64_t bytes);

/* Copies into mapped memory, whatever its protection.  Returns 0, -EFAULT or -ENOMEM. */
int vm_write(struct vm_space *space, uint64_t address, const void *from, uint64_t bytes);
