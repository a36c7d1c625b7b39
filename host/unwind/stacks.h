/* The call stacks of a trace as one tree: a stack is a node, and the node's parent is its caller.
 *
 * A sample's own ip is not part of its stack.  A node's address is a return address, so the call is
 * just before it: names are looked up at address - 1.  An interrupted frame (below a signal
 * handler) is entered as its ip + 1, so that this rule holds for all.  Paths end at a root, whose
 * number says how the stack ended: HR_STACK_* of include/hr_format.h.  Memory is bounded: a stack
 * that does not fit ends at HR_STACK_CUT.  Never prints.
 */
#pragma once

#include <stdint.h>

#include "include/hr_format.h"

#define STACKS_NODES_MAX (1u << 21) /* 60 MB at most */

struct stacks_node { /* packed: there are millions */
    uint64_t address; /* 0 for a root */
    uint32_t parent; /* a root is its own parent, others come after theirs */
} __attribute__((packed, aligned(4)));
_Static_assert(sizeof(struct stacks_node) == 12, "stacks_node");

struct stacks {
    struct stacks_node *nodes; /* HR_STACK_ROOTS roots first; owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t limit; /* of nodes: STACKS_NODES_MAX unless lowered */
    uint32_t *index; /* hash table of node numbers, with a tag above them, 0: free; owned */
    uint32_t index_mask;
    uint64_t refused; /* nodes that did not fit */
};

/* Returns 0 or -ENOMEM. */
int stacks_init(struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Removes all nodes but the roots. */
void stacks_clear(struct stacks *stacks);

/* Returns the node for `address` called from `parent`, a node of this tree.  Returns HR_STACK_CUT
 * if there is no room for a new one. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint64_t address);

/* Makes room in an array of `*count` items for an item of each node; new ones are zero.  `array` is
 * the address of the pointer to its items, NULL at first.  Returns 0 or -ENOMEM. */
int stacks_extend(const struct stacks *stacks, void *array, uint32_t *count, size_t item_bytes);

struct stacks_nodes { /* a tree's nodes for those of another one; all zero at first */
    uint32_t *all; /* owned */
    uint32_t capacity;
};

/* Adds the nodes of another tree, in their order.  Returns 0 or -ENOMEM. */
int stacks_adopt(struct stacks *stacks, const struct stacks *of, struct stacks_nodes *nodes);

/* Returns the root at which a stack ends. */
uint32_t stacks_root(const struct stacks *stacks, uint32_t node);

/* Writes at most `room` addresses of a stack, innermost first.  Returns how many. */
uint32_t stacks_addresses(const struct stacks *stacks, uint32_t node, uint64_t *addresses,
                          uint32_t room);
