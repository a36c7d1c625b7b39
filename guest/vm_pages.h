/* The pages behind an address space's areas: filled on demand, moved, protected, freed. */
#ifndef GUEST_VM_PAGES_H
#define GUEST_VM_PAGES_H

#include "guest/vm.h"

/* Puts zeroed memory behind `address`, which lies in `area` and has no page yet: a 2 MiB page where
 * the area covers one and memory is not scarce.  0, -ENOMEM.
 */
int vm_pages_fill(struct vm_space *space, const struct vm_area *area, uint64_t address);

/* Frees the pages of start..end-1, and the page tables that only low..high-1 needs, where there is
 * nothing else.  0, -ENOMEM when a large page had to be split and could not be: nothing was freed.
 */
int vm_pages_free(struct vm_space *space, uint64_t start, uint64_t end, uint64_t low,
                  uint64_t high);

/* 0, -ENOMEM: nothing was changed. */
int vm_pages_protect(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection);

/* Moves the pages of from..from+bytes-1 to an empty range.  0, -ENOMEM: nothing was moved. */
int vm_pages_move(struct vm_space *space, uint64_t from, uint64_t to, uint64_t bytes);

/* Physical address of the memory behind `address`, 0 when there is none; *room is the number of
 * bytes from there to the end of its page. */
uint64_t vm_pages_physical(const struct vm_space *space, uint64_t address, uint64_t *room);

#endif
