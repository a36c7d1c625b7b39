/* A tree of calls: what was counted in each chain of functions. */
#ifndef HOST_REPORT_TREE_H
#define HOST_REPORT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_NODES_MAX (1u << 19)
#define TREE_ROOT 0u

struct tree_node {
    uint32_t parent;
    uint32_t place; /* of host/report/places.h */
    uint64_t self;
    uint64_t total; /* with all below, after tree_finish */
};

struct tree {
    struct tree_node *nodes; /* the root first, parents before children; owned */
    uint32_t *index; /* hash table of numbers, 0: free; owned */
    uint32_t *children; /* after tree_finish: numbers, those of one parent together; owned */
    uint32_t *first; /* after tree_finish: where a node's children begin; one more at the end */
    uint32_t count;
    uint32_t capacity;
    bool full; /* one found no room: what is below counts for its parent */
};

/* 0 or -ENOMEM. */
int tree_init(struct tree *tree);
void tree_free(struct tree *tree);

/* The node for a place below `parent`; `parent` itself when there is no room. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t place);

/* Adds up totals and sorts children, those with the largest total first; equal ones as `before`
 * says of their places.  0 or -ENOMEM.
 */
int tree_finish(struct tree *tree, int (*before)(uint32_t a, uint32_t b, void *context),
                void *context);

#endif
