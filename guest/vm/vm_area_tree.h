/* Areas as a balanced tree (AVL), by address, with the widest gap below an area of each subtree.
 * The list's links are right whenever one of these is called.  For guest/vm/vm_area.c alone.
 */
#ifndef GUEST_VM_VM_AREA_TREE_H
#define GUEST_VM_VM_AREA_TREE_H

#include "guest/vm/vm.h"

#define VM_STACK_GAP_BYTES (1ull << 20) /* below an area that grows nothing is put by choice */

struct vm_area *vm_area_tree_insert(struct vm_area *tree, struct vm_area *area); /* the new root */
struct vm_area *vm_area_tree_remove(struct vm_area *tree, const struct vm_area *area);

/* The gap below an area has changed; NULL: nothing to do. */
void vm_area_tree_refresh(struct vm_area *tree, const struct vm_area *area);

/* What is asked of a gap. */
struct vm_gap {
    uint64_t bytes;
    uint64_t alignment;
    uint64_t low, high; /* not outside of these */
};

/* The highest place for it in from..end-1; 0: none. */
uint64_t vm_gap_fit(const struct vm_gap *gap, uint64_t from, uint64_t end);

/* The highest place for it below an area of the tree; 0: none. */
uint64_t vm_area_tree_gap(const struct vm_area *tree, const struct vm_gap *gap);

#endif
