/* Areas that show files. */
#pragma once

#include "guest/base/layout.h"
#include "guest/vm/vm.h"

/* Before a fork: gives shared memory without a file an inode, which has its pages from now on.
 * Returns 0 or -ENOMEM. */
int vm_file_share(struct vm_space *space);

/* Returns the index, in the area's inode, of the page at `address`. */
static inline uint64_t vm_file_index(const struct vm_area *area, uint64_t address)
{
    return (area->offset + (address - area->start)) / PAGE_BYTES;
}
