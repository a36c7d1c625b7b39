/* The sorted list of areas of an address space: pure bookkeeping, no page tables.
 * A failed call (-ENOMEM) leaves the space as it was.  Areas hold their inodes.
 */
#pragma once

#include "guest/vm/vm.h"

/* Returns the first area that ends above `address`; NULL if there is none. */
struct vm_area *vm_area_from(const struct vm_space *space, uint64_t address);

bool vm_area_is_free(const struct vm_space *space, uint64_t start, uint64_t end);
bool vm_area_is_full(const struct vm_space *space, uint64_t start, uint64_t end); /* no gap */

/* Returns how many bytes of start..end-1 areas cover. */
uint64_t vm_area_bytes(const struct vm_space *space, uint64_t start, uint64_t end);

/* Gives the range that would be free around start..end-1 if nothing were in it: from the area
 * before to the one after (0 and USER_END if there is none).  start..end-1 must be isolated. */
void vm_area_around(const struct vm_space *space, uint64_t start, uint64_t end, uint64_t *low,
                    uint64_t *high);

/* Gives `to`, which has no areas, those of `from`, without locks.  Returns 0, or -ENOMEM: then it
 * has some, without a tree. */
int vm_area_copy(struct vm_space *to, const struct vm_space *from);

/* Removes all areas. */
void vm_area_clear(struct vm_space *space);

/* Adds an area like `kind` (start, end, protection, flags, inode, offset) in a free range, and
 * joins it to neighbours of the same kind. */
int vm_area_insert(struct vm_space *space, const struct vm_area *kind);

/* Makes start and end boundaries between areas: afterwards the areas from vm_area_from(start) that
 * start below `end` lie entirely inside.
 */
int vm_area_isolate(struct vm_space *space, uint64_t start, uint64_t end);

/* Removes every area inside an isolated range. */
void vm_area_remove(struct vm_space *space, uint64_t start, uint64_t end);

/* Joins equal neighbours in and around start..end. */
void vm_area_join(struct vm_space *space, uint64_t start, uint64_t end);

/* Extends an area down to `start`; nothing may be in between. */
void vm_area_extend(struct vm_space *space, struct vm_area *area, uint64_t start);

/* Extends an area up to `end`, which must be free. */
void vm_area_extend_up(struct vm_space *space, struct vm_area *area, uint64_t end);

/* Returns the highest free range of `bytes` between low and high, at a multiple of `alignment`; 0:
 * none. */
uint64_t vm_area_gap(const struct vm_space *space, uint64_t bytes, uint64_t alignment, uint64_t low,
                     uint64_t high);
