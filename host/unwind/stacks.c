/* Interns call stacks as nodes of a tree. */
#include "host/unwind/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_CAPACITY 4096u

/* The lower bits say where a node belongs in the index, and the upper ones are there, too, above
 * its number: nodes are in memory far away, and most that have another hash stay there. */
static uint32_t hash(uint32_t parent, uint64_t address)
{
    uint64_t key = (address ^ (uint64_t)parent << 40 ^ parent) * HASH_GOLDEN;

    return (uint32_t)(key >> 32);
}

static uint32_t tag_of(uint32_t hash)
{
    return hash & ~(STACKS_NODES_MAX - 1);
}

int stacks_init(struct stacks *stacks)
{
    *stacks = (struct stacks){
        .count = HR_STACK_ROOTS, .capacity = FIRST_CAPACITY, .limit = STACKS_NODES_MAX};
    stacks->index_mask = FIRST_CAPACITY * 2 - 1;
    stacks->nodes = calloc(FIRST_CAPACITY, sizeof stacks->nodes[0]);
    stacks->index = calloc(2ul * FIRST_CAPACITY, sizeof stacks->index[0]);
    if (stacks->nodes == NULL || stacks->index == NULL) {
        stacks_free(stacks);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        stacks->nodes[i].parent = i;
    return 0;
}

void stacks_free(struct stacks *stacks)
{
    free(stacks->nodes);
    free(stacks->index);
    *stacks = (struct stacks){0};
}

void stacks_clear(struct stacks *stacks)
{
    memset(stacks->index, 0, (stacks->index_mask + 1ul) * sizeof stacks->index[0]);
    stacks->count = HR_STACK_ROOTS;
    stacks->refused = 0;
}

static void enter(uint32_t *index, uint32_t mask, uint32_t hash, uint32_t number)
{
    uint32_t i = hash & mask;

    while (index[i] != 0)
        i = (i + 1) & mask;
    index[i] = tag_of(hash) | number;
}

/* Makes room for one more node; the table is never more than half full. */
static int grow(struct stacks *stacks)
{
    uint32_t capacity = stacks->capacity * 2;
    struct stacks_node *nodes;
    uint32_t *index;

    if (capacity > stacks->limit)
        return -ENOMEM;
    nodes = reallocarray(stacks->nodes, capacity, sizeof *nodes);
    if (nodes == NULL)
        return -ENOMEM;
    stacks->nodes = nodes;
    index = array_zeros((size_t)capacity * 2 * sizeof *index);
    if (index == NULL)
        return -ENOMEM;
    free(stacks->index);
    stacks->index = index;
    stacks->index_mask = capacity * 2 - 1;
    stacks->capacity = capacity;
    for (uint32_t i = HR_STACK_ROOTS; i < stacks->count; i++)
        enter(index, stacks->index_mask, hash(nodes[i].parent, nodes[i].address), i);
    return 0;
}

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint64_t address)
{
    uint32_t key = hash(parent, address), i = key & stacks->index_mask;

    for (; stacks->index[i] != 0; i = (i + 1) & stacks->index_mask) {
        uint32_t number = stacks->index[i] & (STACKS_NODES_MAX - 1);

        if ((stacks->index[i] ^ number) == tag_of(key) &&
            stacks->nodes[number].address == address && stacks->nodes[number].parent == parent)
            return number;
    }
    if (stacks->count == stacks->capacity && grow(stacks) != 0) {
        stacks->refused++;
        return HR_STACK_CUT;
    }
    stacks->nodes[stacks->count] = (struct stacks_node){address, parent};
    enter(stacks->index, stacks->index_mask, key, stacks->count);
    return stacks->count++;
}

int stacks_adopt(struct stacks *stacks, const struct stacks *of, struct stacks_nodes *nodes)
{
    if (stacks_extend(of, &nodes->all, &nodes->capacity, sizeof nodes->all[0]) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < of->count; i++)
        nodes->all[i] = i < HR_STACK_ROOTS ? i
                                           : stacks_child(stacks, nodes->all[of->nodes[i].parent],
                                                          of->nodes[i].address);
    return 0;
}

uint32_t stacks_root(const struct stacks *stacks, uint32_t node)
{
    while (node >= HR_STACK_ROOTS)
        node = stacks->nodes[node].parent;
    return node;
}

uint32_t stacks_addresses(const struct stacks *stacks, uint32_t node, uint64_t *addresses,
                          uint32_t room)
{
    uint32_t count = 0;

    for (; node >= HR_STACK_ROOTS && count < room; node = stacks->nodes[node].parent)
        addresses[count++] = stacks->nodes[node].address;
    return count;
}

int stacks_extend(const struct stacks *stacks, void *array, uint32_t *count, size_t item_bytes)
{
    char *items;

    if (stacks->count <= *count)
        return 0;
    memcpy(&items, array, sizeof items);
    items = reallocarray(items, stacks->capacity, item_bytes);
    if (items == NULL)
        return -ENOMEM;
    memset(items + *count * item_bytes, 0, (stacks->capacity - *count) * item_bytes);
    memcpy(array, &items, sizeof items);
    *count = stacks->capacity;
    return 0;
}
