/* Copy on write: what address spaces share since a fork becomes one's own when it is to change.
 *
 * A fork shares whole page tables of the lowest level, and 2 MiB pages.  The entry that leads there
 * gets VM_ENTRY_COPY and loses VM_ENTRY_WRITE, in both spaces.  A table that is to change is copied
 * first; then its pages are shared, and their entries get VM_ENTRY_COPY in both tables.  A page
 * that is to be written is copied, or just made writable if its space has become the only one.
 *
 * So a page with a count (guest/vm/vm_share.h) has VM_ENTRY_COPY in every entry that shows it, and
 * a space with neither parent nor child has none: `forked` says so. */
#pragma once

#include "guest/memory/vm_table.h"
#include "guest/vm/vm.h"

/* Makes the tables of start..end-1 the space's own.  Returns 0, or -ENOMEM: then some are. */
int vm_copy_tables(struct vm_space *space, uint64_t start, uint64_t end);

/* As vm_table_make, for an entry that is to be changed. */
uint64_t *vm_copy_make(struct vm_space *space, uint64_t address, unsigned level);

/* Makes what is at `address`, in `area`, ready for vm_fill, or to be written.  `slot` is
 * vm_table_look's result.  Returns 1 if it changed something, and the caller looks again; 0; or
 * -ENOMEM. */
int vm_copy_own(struct vm_space *space, const struct vm_area *area, uint64_t address, bool write,
                struct vm_slot slot);

/* Shows the parent's pages in a child that has areas but no pages.  Returns 0, or -ENOMEM: then the
 * child has some of them. */
int vm_copy_share(struct vm_space *parent, struct vm_space *child);

/* Frees all pages and all tables below the top one.  No CPU may use the space. */
void vm_copy_clear(struct vm_space *space);
