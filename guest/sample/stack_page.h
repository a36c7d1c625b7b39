/* Finds a page of the program's memory through page tables.  guest/sample/stack_page.c and
 * guest/calls/calls_observe.c say why nothing changes at that time. */
#ifndef GUEST_SAMPLE_STACK_PAGE_H
#define GUEST_SAMPLE_STACK_PAGE_H

#include <stdint.h>

#include "guest/memory/phys.h"
#include "guest/memory/vm_table.h"

/* Returns the kernel's address of what is at an address below USER_END, in the tables at this
 * physical address; NULL if the program could not read it. */
static inline const uint8_t *stack_page_from(uint64_t root, uint64_t address)
{
    uint64_t entry = root;

#pragma GCC unroll 4
    for (unsigned level = VM_LEVEL_TOP; level >= VM_LEVEL_PAGE; level--) {
        uint64_t bytes = vm_level_bytes(level);
        uint64_t offset = address / bytes % 512 * sizeof entry;

        entry = *(const volatile uint64_t *)((entry & VM_ENTRY_ADDRESS) + DIRECT_MAP + offset);
        if (!(entry & VM_ENTRY_PRESENT))
            return NULL;
        if (level == VM_LEVEL_LARGE && entry & VM_ENTRY_LARGE) {
            entry = (entry & ~(bytes - 1)) | (address & (bytes - 1) & VM_ENTRY_ADDRESS) |
                    (entry & VM_ENTRY_USER);
            break;
        }
    }
    return entry & VM_ENTRY_USER ? phys_pointer(entry & VM_ENTRY_ADDRESS) : NULL;
}

#endif
