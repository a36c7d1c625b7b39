/* The call tree of a trace by functions: a node is a function called from its parent, or inlined.
 *
 * Addresses become functions here, so the tree is much smaller than that of the stacks, and the
 * page needs no addresses.  The first functions stand for stacks that did not end at a thread's
 * start.  Memory is bounded: functions beyond the bound are one, and calls beyond it count for
 * their caller.
 */
#pragma once

#include "host/symbols/symbols.h"
#include "host/unwind/stacks.h"
#include "host/view/data/view_columns.h"

#define VIEW_TREE_NODES_BITS 18u
#define VIEW_TREE_NODES_MAX (1u << VIEW_TREE_NODES_BITS)
#define VIEW_TREE_FUNCTIONS_MAX (1u << 15)

enum { /* functions that are none */
       VIEW_FUNCTION_ALL, /* of the root, node 0 */
       VIEW_FUNCTION_CUT, /* callers beyond the depth that was kept */
       VIEW_FUNCTION_BROKEN, /* callers unknown: the stack could not be followed */
       VIEW_FUNCTION_OTHER, /* functions beyond the bound */
       VIEW_FUNCTIONS_FIXED,
};

struct view_function {
    const char *name; /* NULL: the range start .. end-1; owned by the symbols */
    const char *object; /* NULL: unknown; owned by the symbols */
    uint64_t start;
    uint64_t end;
    bool kernel;
    bool inlined; /* start, end and object are of the function that holds the code */
};

struct view_tree_node {
    uint32_t parent;
    uint32_t function;
};

struct view_tree_place { /* of a cache: what was found for an address in a stack */
    uint64_t ip;
    uint32_t stack;
    uint32_t node; /* 0: unused */
};

struct view_tree {
    struct symbols *symbols; /* set by the caller before the first sample */
    struct view_function *functions; /* owned, as all below */
    uint32_t function_count;
    uint32_t *function_index;
    struct view_tree_node *nodes;
    uint32_t node_count;
    uint32_t *node_index;
    uint32_t *stack_nodes; /* of each node of the trace's stacks, 0: not looked at yet */
    uint32_t stack_room;
    struct view_tree_place *cache;
    uint64_t refused; /* calls that found no room */
};

/* 0 or -ENOMEM. */
int view_tree_init(struct view_tree *tree);
void view_tree_free(struct view_tree *tree);

/* The node of a sample at `ip` whose stack is node `stack` of `stacks` (HR_STACK_NONE: it has
 * none).  -ENOMEM through *error. */
uint32_t view_tree_sample(struct view_tree *tree, const struct stacks *stacks, uint32_t stack,
                          uint64_t ip, int *error);

/* Before samples of another scan: its stacks have other numbers. */
void view_tree_forget(struct view_tree *tree);

/* Puts nodes and functions into a group of columns. */
void view_tree_pack(const struct view_tree *tree, struct view_columns *columns);
