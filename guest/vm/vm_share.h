/* How many address spaces share a page of private memory, or a page table, since a fork.
 *
 * A count is the number of sharers beyond the first: 0 says that the page has one owner.  A 2 MiB
 * page is counted as its 512 pages.  The counts are made by the first fork: before it, no entry has
 * VM_ENTRY_COPY, and only for entries that have it may a count be asked for.  Context: the kernel
 * lock's holder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/layout.h"
#include "guest/memory/vm_table.h"

#define VM_SHARE_BITS 15u /* of a block: 32,768 counts, for 128 MiB of memory */
#define VM_SHARE_BLOCK (1u << VM_SHARE_BITS)

extern uint16_t **vm_share_blocks; /* NULL: there are no counts yet */
extern uint64_t vm_share_first; /* the address that the first count belongs to */

/* Makes the counts if there are none.  Returns 0 or -ENOMEM. */
int vm_share_open(void);

/* Returns the count of an entry's page or table. */
static inline uint16_t *vm_share_count(uint64_t entry)
{
    uint64_t page = ((entry & VM_ENTRY_ADDRESS) - vm_share_first) / PAGE_BYTES;

    return &vm_share_blocks[page >> VM_SHARE_BITS][page & (VM_SHARE_BLOCK - 1)];
}

/* Gives up one owner's share of an entry's page or table.  Returns true if that was the last one:
 * the caller frees it. */
static inline bool vm_share_drop(uint64_t entry)
{
    uint16_t *count;

    if (!(entry & VM_ENTRY_COPY))
        return true;
    count = vm_share_count(entry);
    if (!*count)
        return true;
    --*count;
    return false;
}

/* Frees an entry's page, 4 KiB or 2 MiB, unless others share it. */
void vm_share_free(uint64_t entry);

/* Adds a sharer of a 2 MiB page. */
void vm_share_add_large(uint64_t entry);

/* Returns whether a 2 MiB page has one owner, all of it. */
bool vm_share_sole_large(uint64_t entry);
