/* A tree of calls, with the counts of each chain of functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TREE_NODES_MAX (1u << 19)
#define TREE_ROOT 0u

struct tree_node {
    uint32_t parent;
    uint32_t place; /* number in host/report/places.h */
    uint64_t self;
    uint64_t total; /* with all descendants, after tree_finish */
};

struct tree {
    struct tree_node *nodes; /* the root first, parents before children; owned */
    uint32_t *index; /* hash table of numbers, with a tag in the upper bits, 0: free; owned */
    uint32_t *children; /* after tree_finish: node numbers, grouped by parent; owned */
    uint32_t *first; /* after tree_finish: index of a node's first child, and an end; owned */
    uint32_t count;
    bool full; /* a node did not fit: its counts go to the parent */
};

/* Returns 0 or -ENOMEM. */
int tree_init(struct tree *tree);
void tree_free(struct tree *tree);

/* Returns the node for a place below `parent`, or `parent` if there is no room. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t place);

/* Such a node is wanted soon: first the table is fetched, then, when it is there, the node. */
void tree_prefetch(const struct tree *tree, uint32_t parent, uint32_t place);
void tree_prefetch_node(const struct tree *tree, uint32_t parent, uint32_t place);

/* Computes totals and sorts children by descending total; equal ones by `before` on their places.
 * Returns 0 or -ENOMEM. */
int tree_finish(struct tree *tree, int (*before)(uint32_t a, uint32_t b, void *context),
                void *context);
