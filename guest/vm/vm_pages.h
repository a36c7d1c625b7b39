/* The pages behind an address space's areas: moved, protected, freed. */
#ifndef GUEST_VM_VM_PAGES_H
#define GUEST_VM_VM_PAGES_H

#include "guest/vm/vm.h"

#define VM_LARGE_ORDER 9u /* of guest/memory/phys.h, a 2 MiB page */

/* An entry's flags for an area's protection.  A page without access keeps its contents: present,
 * but for the kernel only. */
uint64_t vm_leaf_flags(uint32_t protection);

/* Empties a present entry: every CPU has forgotten its page when this returns. */
void vm_pages_withdraw(uint64_t *entry, uint64_t address);

/* The area forgets the files' pages that start..end-1 shows; with `copies` also what it copied. */
void vm_pages_forget(struct vm_space *space, uint64_t start, uint64_t end, bool copies);

/* Frees the pages of start..end-1, and the page tables that only low..high-1 needs, where there is
 * nothing else.  0, -ENOMEM when a large page had to be split and could not be: nothing was freed.
 */
int vm_pages_free(struct vm_space *space, uint64_t start, uint64_t end, uint64_t low,
                  uint64_t high);

/* Files' pages do not become writable by this, but by the next write.  0, -ENOMEM: nothing was
 * changed. */
int vm_pages_protect(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection);

/* Moves the pages of from..from+bytes-1 to an empty range.  0, -ENOMEM: nothing was moved. */
int vm_pages_move(struct vm_space *space, uint64_t from, uint64_t to, uint64_t bytes);

#endif
