/* Moves, protects and frees the pages of an address space's areas. */
#pragma once

#include "guest/vm/vm.h"

#define VM_LARGE_ORDER 9u /* of guest/memory/phys.h, a 2 MiB page */

extern uint64_t vm_leaf_base; /* the flags of every entry: guest/vm/vm_touched.h clears some */

/* Returns an entry's flags for an area's protection.  A page without access keeps its contents: it
 * is present, but for the kernel only. */
uint64_t vm_leaf_flags(uint32_t protection);

/* Empties a present entry of a space; every CPU has forgotten its page when this returns. */
void vm_pages_withdraw(const struct vm_space *space, uint64_t *entry, uint64_t address);

/* Unmaps the files' pages in start..end-1; with `copies`, frees private copies of them too. */
void vm_pages_forget(struct vm_space *space, uint64_t start, uint64_t end, bool copies);

/* Frees the pages of start..end-1, and the page tables that only low..high-1 needs, a range with no
 * other pages.  Returns 0, or -ENOMEM if a large page could not be split; then nothing was freed.
 */
int vm_pages_free(struct vm_space *space, uint64_t start, uint64_t end, uint64_t low,
                  uint64_t high);

/* Changes the protection of pages.  Files' pages become writable only with the next write to them.
 * Returns 0, or -ENOMEM; then nothing was changed. */
int vm_pages_protect(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection);

/* Moves the pages of from..from+bytes-1 to an empty range.  Returns 0, or -ENOMEM; then nothing was
 * moved. */
int vm_pages_move(struct vm_space *space, uint64_t from, uint64_t to, uint64_t bytes);
