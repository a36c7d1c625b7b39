/* Provides memory for one address of an area when it is needed. */
#pragma once

#include "guest/memory/vm_table.h"
#include "guest/vm/vm.h"

/* A page fault shows what is in memory of the file in so many pages around it, aligned. */
#define VM_FILL_AROUND_PAGES 64ull
#define VM_FILL_AROUND_BYTES (VM_FILL_AROUND_PAGES * PAGE_BYTES)

/* Maps memory at `address`, which is in `area`.  Anonymous memory is zeroed, and a 2 MiB page if
 * the area covers one and memory is not scarce.  Of a file it maps the page itself; to write, a
 * private area gets a copy.  `slot` is vm_table_look's result for the address; it must not be
 * vm_filled().  Returns 0, -ENOMEM, or -ENXIO past the end of the file. */
int vm_fill(struct vm_space *space, const struct vm_area *area, uint64_t address,
            struct vm_slot slot, bool write);

/* Returns whether an entry has memory that serves.  To write, a file's page may have to be copied
 * first. */
static inline bool vm_filled(uint64_t entry, bool write)
{
    return (entry & VM_ENTRY_PRESENT) &&
           (!write || (entry & VM_ENTRY_WRITE) || !(entry & VM_ENTRY_FOREIGN));
}

/* Called when the kernel has filled or copied a page of a space for the calling CPU's thread, which
 * did not touch it itself; set at boot. */
extern void (*vm_fill_told)(const struct vm_space *space, uint64_t address, bool write);

extern bool vm_fill_small; /* memory has no 2 MiB pages */
