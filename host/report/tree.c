/* Interns chains of calls and adds up their counts. */
#include "host/report/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define INDEX_BITS 20u /* twice the nodes: never more than half full */

int tree_init(struct tree *tree)
{
    *tree = (struct tree){.count = 1};
    tree->nodes = calloc(TREE_NODES_MAX, sizeof tree->nodes[0]);
    tree->index = calloc(1u << INDEX_BITS, sizeof tree->index[0]);
    return tree->nodes != NULL && tree->index != NULL ? 0 : -ENOMEM;
}

void tree_free(struct tree *tree)
{
    free(tree->nodes);
    free(tree->index);
    free(tree->children);
    free(tree->first);
    *tree = (struct tree){0};
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t place)
{
    uint32_t i = hash_place((uint64_t)parent << 32 | place, INDEX_BITS);

    for (; tree->index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1)) {
        const struct tree_node *node = &tree->nodes[tree->index[i]];

        if (node->parent == parent && node->place == place)
            return tree->index[i];
    }
    if (tree->count == TREE_NODES_MAX) {
        tree->full = true;
        return parent;
    }
    tree->nodes[tree->count] = (struct tree_node){.parent = parent, .place = place};
    return tree->index[i] = tree->count++;
}

struct order {
    const struct tree_node *nodes;
    int (*before)(uint32_t a, uint32_t b, void *context);
    void *context;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct tree_node *x = &order->nodes[*(const uint32_t *)a];
    const struct tree_node *y = &order->nodes[*(const uint32_t *)b];

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return order->before(x->place, y->place, order->context);
}

int tree_finish(struct tree *tree, int (*before)(uint32_t a, uint32_t b, void *context),
                void *context)
{
    struct order order = {tree->nodes, before, context};
    uint32_t at = 0;

    tree->children = calloc(tree->count, sizeof tree->children[0]);
    tree->first = calloc((size_t)tree->count + 1, sizeof tree->first[0]);
    if (tree->children == NULL || tree->first == NULL)
        return -ENOMEM;
    for (uint32_t i = tree->count; i-- > 0;) {
        tree->nodes[i].total += tree->nodes[i].self;
        if (i != TREE_ROOT)
            tree->nodes[tree->nodes[i].parent].total += tree->nodes[i].total;
    }
    for (uint32_t i = 1; i < tree->count; i++)
        tree->children[i - 1] = i;
    qsort_r(tree->children, tree->count - 1, sizeof tree->children[0], compare, &order);
    for (uint32_t parent = 0; parent <= tree->count; parent++) {
        while (at + 1 < tree->count && tree->nodes[tree->children[at]].parent < parent)
            at++;
        tree->first[parent] = at;
    }
    return 0;
}
