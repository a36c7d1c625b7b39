/* Interns chains of calls and adds up their counts. */
#include "host/report/tree.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 1024u

int tree_init(struct tree *tree)
{
    *tree = (struct tree){.count = 1, .capacity = FIRST_CAPACITY};
    tree->nodes = calloc(FIRST_CAPACITY, sizeof tree->nodes[0]);
    tree->index = calloc(2ul * FIRST_CAPACITY, sizeof tree->index[0]);
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

static uint32_t slot_of(uint32_t parent, uint32_t place, uint32_t capacity)
{
    uint64_t key = (uint64_t)parent << 32 | place;

    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (capacity * 2 - 1);
}

static void enter(struct tree *tree, uint32_t number)
{
    const struct tree_node *node = &tree->nodes[number];
    uint32_t i = slot_of(node->parent, node->place, tree->capacity);

    while (tree->index[i] != 0)
        i = (i + 1) & (tree->capacity * 2 - 1);
    tree->index[i] = number;
}

static bool grow(struct tree *tree)
{
    uint32_t capacity = tree->capacity * 2;
    struct tree_node *nodes;
    uint32_t *index;

    if (capacity > TREE_NODES_MAX)
        return false;
    index = calloc((size_t)capacity * 2, sizeof *index);
    nodes = index != NULL ? reallocarray(tree->nodes, capacity, sizeof *nodes) : NULL;
    if (nodes == NULL) {
        free(index);
        return false;
    }
    free(tree->index);
    tree->index = index;
    tree->nodes = nodes;
    tree->capacity = capacity;
    for (uint32_t i = 1; i < tree->count; i++)
        enter(tree, i);
    return true;
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t place)
{
    uint32_t mask = tree->capacity * 2 - 1;
    uint32_t i = slot_of(parent, place, tree->capacity);

    for (; tree->index[i] != 0; i = (i + 1) & mask) {
        const struct tree_node *node = &tree->nodes[tree->index[i]];

        if (node->parent == parent && node->place == place)
            return tree->index[i];
    }
    if (tree->count == tree->capacity && !grow(tree)) {
        tree->full = true;
        return parent;
    }
    tree->nodes[tree->count] = (struct tree_node){.parent = parent, .place = place};
    enter(tree, tree->count);
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
