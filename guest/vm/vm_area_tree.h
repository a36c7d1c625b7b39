/* Areas as a balanced tree (AVL), by address, with the widest gap below an area of each subtree.
 * The list's links must be right whenever one of these is called.  Only guest/vm/vm_area.c uses
 * these. */
#pragma once

#include "guest/vm/vm.h"

#define VM_STACK_GAP_BYTES (1ull << 20) /* kept free below an area that grows, MAP_FIXED aside */

struct vm_area *vm_area_tree_insert(struct vm_area *tree, struct vm_area *area); /* the new root */
struct vm_area *vm_area_tree_remove(struct vm_area *tree, const struct vm_area *area);

/* Returns the tree of the first `count` areas of a list. */
struct vm_area *vm_area_tree_build(struct vm_area *first, uint32_t count);

/* Notes that the gap below an area has changed; NULL: does nothing. */
void vm_area_tree_refresh(struct vm_area *tree, const struct vm_area *area);

/* What a gap must have. */
struct vm_gap {
    uint64_t bytes;
    uint64_t alignment;
    uint64_t low, high; /* it must be between these */
};

/* Returns the highest place for it in from..end-1; 0: none. */
uint64_t vm_gap_fit(const struct vm_gap *gap, uint64_t from, uint64_t end);

/* Returns the highest place for it below an area of the tree; 0: none. */
uint64_t vm_area_tree_gap(const struct vm_area *tree, const struct vm_gap *gap);
