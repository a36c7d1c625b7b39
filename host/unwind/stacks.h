/* The call stacks of a trace as one tree: a stack is a node, the node's parent is the caller.
 *
 * A sample's own ip is not part of its stack.  A node's address is a return address, so what lies
 * just before it made the call: names are looked up at address - 1.  An interrupted frame (below a
 * signal handler) is entered as its ip + 1, so that this holds for all.  Paths end at a root, whose
 * number says how the stack ended: HR_STACK_* of include/hr_format.h.  Memory is bounded: what does
 * not fit ends at HR_STACK_CUT.  Never prints.
 */
#ifndef HOST_UNWIND_STACKS_H
#define HOST_UNWIND_STACKS_H

#include <stdint.h>

#include "include/hr_format.h"

#define STACKS_NODES_MAX (1u << 21) /* 70 MB at most */

struct stacks_node {
    uint64_t address; /* 0 for a root */
    uint32_t parent; /* its number for a root */
    uint32_t depth; /* frames from here to the root; 0 for a root */
};

struct stacks {
    struct stacks_node *nodes; /* HR_STACK_ROOTS roots first; owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t limit; /* of nodes: STACKS_NODES_MAX unless lowered */
    uint32_t *index; /* hash table of node numbers, 0: free; owned */
    uint32_t index_mask;
    uint64_t refused; /* nodes that found no room */
};

/* 0 or -ENOMEM. */
int stacks_init(struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* The node for `address` called from `parent`, which is one of this tree.  HR_STACK_CUT when there
 * is no room for one more.
 */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint64_t address);

/* The root that a stack ends at. */
uint32_t stacks_root(const struct stacks *stacks, uint32_t node);

/* Writes a stack's addresses, innermost first, at most `room`: how many. */
uint32_t stacks_addresses(const struct stacks *stacks, uint32_t node, uint64_t *addresses,
                          uint32_t room);

#endif
