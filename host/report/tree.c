/* Interns chains of calls and adds up their counts. */
#include "host/report/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define INDEX_BITS 20u /* twice the nodes: never more than half full */

int tree_init(struct tree *tree)
{
    *tree = (struct tree){.count = 1};
    tree->nodes = array_zeros(TREE_NODES_MAX * sizeof tree->nodes[0]);
    tree->index = array_zeros(sizeof tree->index[0] << INDEX_BITS);
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

/* The upper bits of the hash, where a node belongs in the index, and the lower ones, which an entry
 * has above its number: nodes are in memory far away, and most that have another hash stay there.
 */
static uint64_t hash(uint32_t parent, uint32_t place)
{
    return ((uint64_t)parent << 32 | place) * HASH_GOLDEN;
}

static uint32_t place_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - INDEX_BITS));
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)hash & ~(TREE_NODES_MAX - 1);
}

void tree_prefetch(const struct tree *tree, uint32_t parent, uint32_t place)
{
    __builtin_prefetch(&tree->index[place_of(hash(parent, place))]);
}

void tree_prefetch_node(const struct tree *tree, uint32_t parent, uint32_t place)
{
    uint32_t entry = tree->index[place_of(hash(parent, place))];

    __builtin_prefetch(&tree->nodes[entry & (TREE_NODES_MAX - 1)]);
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t place)
{
    uint64_t key = hash(parent, place);
    uint32_t i = place_of(key), tag = tag_of(key);

    for (; tree->index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1)) {
        uint32_t number = tree->index[i] & (TREE_NODES_MAX - 1);

        if ((tree->index[i] ^ number) == tag && tree->nodes[number].parent == parent &&
            tree->nodes[number].place == place)
            return number;
    }
    if (tree->count == TREE_NODES_MAX) {
        tree->full = true;
        return parent;
    }
    tree->nodes[tree->count] = (struct tree_node){.parent = parent, .place = place};
    tree->index[i] = tag | tree->count;
    return tree->count++;
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

    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return order->before(x->place, y->place, order->context);
}

/* Puts the children of each node together: counts them, and goes back from the end of each. */
static void group(struct tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++)
        tree->first[tree->nodes[i].parent + 1]++;
    for (uint32_t i = 0; i < tree->count; i++)
        tree->first[i + 1] += tree->first[i];
    for (uint32_t i = 1; i < tree->count; i++)
        tree->children[tree->first[tree->nodes[i].parent]++] = i;
    memmove(tree->first + 1, tree->first, tree->count * sizeof tree->first[0]);
    tree->first[0] = 0;
}

int tree_finish(struct tree *tree, int (*before)(uint32_t a, uint32_t b, void *context),
                void *context)
{
    struct order order = {tree->nodes, before, context};

    tree->children = calloc(tree->count, sizeof tree->children[0]);
    tree->first = calloc((size_t)tree->count + 1, sizeof tree->first[0]);
    if (tree->children == NULL || tree->first == NULL)
        return -ENOMEM;
    for (uint32_t i = tree->count; i-- > 0;) {
        tree->nodes[i].total += tree->nodes[i].self;
        if (i != TREE_ROOT)
            tree->nodes[tree->nodes[i].parent].total += tree->nodes[i].total;
    }
    group(tree);
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->first[i + 1] - tree->first[i] > 1)
            qsort_r(tree->children + tree->first[i], tree->first[i + 1] - tree->first[i],
                    sizeof tree->children[0], compare, &order);
    return 0;
}
