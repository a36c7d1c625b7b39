/* The program's addresses, and what the files of the address space's code share. */
#pragma once

#include "guest/base/layout.h"
#include "guest/vm/vm.h"

#define VM_PAGE_MASK (PAGE_BYTES - 1ull)
#define VM_LOWEST 0x10000ull /* vm.mmap_min_addr */
#define VM_MAP_TOP 0x00007ffff7fff000ull /* 128 MiB below the top, as Linux without ASLR */

/* True for a page-aligned, non-empty range inside the program's half. */
static inline bool vm_range_ok(uint64_t address, uint64_t bytes)
{
    return !(address & VM_PAGE_MASK) && bytes && bytes <= USER_END && address <= USER_END - bytes;
}

static inline uint64_t vm_page_up(uint64_t bytes)
{
    return (bytes + VM_PAGE_MASK) & ~VM_PAGE_MASK;
}

/* Returns an address for a request that is not fixed: the hint if it is free.  0: no room. */
uint64_t vm_choose(const struct vm_space *space, const struct vm_request *request);

/* True if so many bytes more must be refused with ENOMEM. */
bool vm_too_large(const struct vm_space *space, uint64_t bytes, uint32_t protection,
                  uint32_t flags);
