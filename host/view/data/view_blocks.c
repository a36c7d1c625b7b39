/* Counts samples by block of time, CPU and thread, and function in its calls. */
#include "host/view/data/view_blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/view/data/view_tree.h"
#include "lib/hash.h"

#define GROUP_BITS 10u
#define SHIFT_FIRST 8u
#define ROOM_FIRST 4096u /* entries */
_Static_assert(VIEW_GROUPS_MAX == 1u << GROUP_BITS, "groups in a key");

/* block + 1, group, node from the upper bits down, so that sorting keys sorts by time */
#define KEY_BLOCK (1ull << (GROUP_BITS + VIEW_TREE_NODES_BITS))

static uint32_t slots_of(const struct view_blocks *blocks)
{
    return 1u << blocks->bits;
}

int view_blocks_init(struct view_blocks *blocks, uint32_t event_count, unsigned bits)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->bits = bits;
    blocks->event_count = event_count;
    blocks->shift = SHIFT_FIRST;
    blocks->groups = calloc(VIEW_GROUPS_MAX, sizeof blocks->groups[0]);
    blocks->index = calloc(slots_of(blocks), sizeof blocks->index[0]);
    blocks->of_objects = calloc(VIEW_GROUPS_MAX, sizeof blocks->of_objects[0]);
    if (blocks->groups == NULL || blocks->of_objects == NULL || blocks->index == NULL) {
        view_blocks_free(blocks);
        return -ENOMEM;
    }
    return 0;
}

void view_blocks_free(struct view_blocks *blocks)
{
    free(blocks->groups);
    free(blocks->of_objects);
    free(blocks->index);
    free(blocks->keys);
    free(blocks->values);
    memset(blocks, 0, sizeof *blocks);
}

uint32_t view_blocks_group(struct view_blocks *blocks, uint32_t cpu, uint32_t tid)
{
    uint32_t i;

    for (i = 0; i < blocks->group_count; i++)
        if (blocks->groups[i].tid == tid && blocks->groups[i].cpu == cpu &&
            blocks->groups[i].object == 0)
            return i;
    if (i == VIEW_GROUPS_MAX - 1)
        blocks->groups[i] = (struct view_group){UINT32_MAX, UINT32_MAX, 0};
    else if (i < VIEW_GROUPS_MAX)
        blocks->groups[i] = (struct view_group){cpu, tid, 0};
    else
        return VIEW_GROUPS_MAX - 1;
    return blocks->group_count++;
}

/* Half of the groups are left for CPUs and threads. */
uint32_t view_blocks_object(struct view_blocks *blocks, uint32_t group, uint32_t object)
{
    uint16_t *place = &blocks->of_objects[group][object % VIEW_OBJECTS_MAX];

    if (*place != 0)
        return *place;
    if (blocks->group_count >= VIEW_GROUPS_MAX / 2) {
        blocks->refused++;
        return group;
    }
    *place = (uint16_t)blocks->group_count;
    blocks->groups[blocks->group_count] = blocks->groups[group];
    blocks->groups[blocks->group_count].object = object + 1;
    return blocks->group_count++;
}

/* The place of a key in the index: the entry there has the key, or it is free. */
static uint32_t find_slot(const struct view_blocks *blocks, uint64_t key)
{
    uint32_t i = hash_place(key, blocks->bits);

    while (blocks->index[i] != 0 && blocks->keys[blocks->index[i] - 1] != key)
        i = (i + 1) & (slots_of(blocks) - 1);
    return i;
}

static int grow(struct view_blocks *blocks)
{
    size_t room = blocks->room != 0 ? 2 * (size_t)blocks->room : ROOM_FIRST;
    size_t words = 1 + (size_t)blocks->event_count;
    uint64_t *keys = realloc(blocks->keys, room * sizeof *keys), *values;

    if (keys == NULL)
        return -ENOMEM;
    blocks->keys = keys;
    values = realloc(blocks->values, room * words * sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    blocks->values = values;
    blocks->room = (uint32_t)room;
    return 0;
}

/* Makes 2^by blocks one: entries move to the front of their array or into one that is there. */
static void coarsen(struct view_blocks *blocks, unsigned by)
{
    size_t words = 1 + blocks->event_count;
    uint32_t used = blocks->used;

    memset(blocks->index, 0, slots_of(blocks) * sizeof blocks->index[0]);
    blocks->used = 0;
    blocks->shift += by;
    blocks->last = 0;
    for (uint32_t i = 0; i < used; i++) {
        uint64_t key = blocks->keys[i], *from = blocks->values + i * words, *to;
        uint32_t slot;

        key = ((key / KEY_BLOCK - 1) >> by) * KEY_BLOCK + KEY_BLOCK + key % KEY_BLOCK;
        slot = find_slot(blocks, key);
        if (blocks->index[slot] == 0) {
            blocks->keys[blocks->used] = key;
            memmove(blocks->values + blocks->used * words, from, words * sizeof *from);
            blocks->index[slot] = ++blocks->used;
            continue;
        }
        to = blocks->values + (blocks->index[slot] - 1) * words;
        for (size_t w = 0; w < words; w++)
            to[w] += from[w];
    }
}

/* Room for one more entry.  A trace whose one block is too much counts the rest at the root. */
static int make_room(struct view_blocks *blocks, uint64_t time, uint32_t *node)
{
    while (blocks->used >= slots_of(blocks) / 4 * 3) {
        if (time >> blocks->shift == 0 && blocks->shift > 48) {
            *node = 0;
            if (blocks->used >= slots_of(blocks) - VIEW_GROUPS_MAX * 2)
                return -ENOMEM;
            break;
        }
        coarsen(blocks, 1);
    }
    return blocks->used == blocks->room ? grow(blocks) : 0;
}

static uint64_t key_of(const struct view_blocks *blocks, uint64_t time, uint32_t group,
                       uint32_t node)
{
    return ((time >> blocks->shift) + 1) * KEY_BLOCK + ((uint64_t)group << VIEW_TREE_NODES_BITS) +
           node;
}

/* The entry of a key that is not the last one's, made if it is new; -ENOMEM through *error. */
static uint32_t find_entry(struct view_blocks *blocks, uint64_t time, uint32_t group, uint32_t node,
                           int *error)
{
    size_t words = 1 + blocks->event_count;
    uint32_t slot = find_slot(blocks, key_of(blocks, time, group, node));

    if (blocks->index[slot] != 0)
        return blocks->index[slot] - 1;
    *error = make_room(blocks, time, &node);
    if (*error != 0)
        return 0;
    slot = find_slot(blocks, key_of(blocks, time, group, node));
    if (blocks->index[slot] == 0) {
        blocks->keys[blocks->used] = key_of(blocks, time, group, node);
        memset(blocks->values + blocks->used * words, 0, words * sizeof blocks->values[0]);
        blocks->index[slot] = ++blocks->used;
    }
    return blocks->index[slot] - 1;
}

/* The values of an entry; NULL without memory. */
static uint64_t *values_of(struct view_blocks *blocks, uint64_t time, uint32_t group, uint32_t node)
{
    unsigned by = 0;
    int error = 0;

    while (time >> blocks->shift >> by >= VIEW_BLOCKS_MAX)
        by++;
    if (by != 0)
        coarsen(blocks, by);
    if (blocks->used == 0 || blocks->keys[blocks->last] != key_of(blocks, time, group, node))
        blocks->last = find_entry(blocks, time, group, node, &error);
    return error == 0 ? blocks->values + blocks->last * (1 + (size_t)blocks->event_count) : NULL;
}

int view_blocks_add(struct view_blocks *blocks, uint64_t time, uint32_t group, uint32_t node,
                    uint64_t weight, const struct trace_slot *slot,
                    const struct trace_slot *previous)
{
    uint64_t *values = values_of(blocks, time, group, node);

    if (values == NULL)
        return -ENOMEM;
    values[0] += weight;
    for (uint32_t i = 0; previous != NULL && i < blocks->event_count; i++)
        values[1 + i] += slot->counters[i] - previous->counters[i];
    return 0;
}

void view_blocks_begin(struct view_blocks *blocks, unsigned shift)
{
    memset(blocks->index, 0, slots_of(blocks) * sizeof blocks->index[0]);
    blocks->used = 0;
    blocks->last = 0;
    blocks->shift = shift;
}

/* Entries come in the order of their first samples. */
int view_blocks_merge(struct view_blocks *blocks, const struct view_blocks *part)
{
    size_t words = 1 + (size_t)part->event_count;

    for (uint32_t i = 0; i < part->used; i++) {
        uint64_t key = part->keys[i];
        uint64_t *values = values_of(blocks, (key / KEY_BLOCK - 1) << part->shift,
                                     (uint32_t)(key % KEY_BLOCK >> VIEW_TREE_NODES_BITS),
                                     (uint32_t)(key % VIEW_TREE_NODES_MAX));

        if (values == NULL)
            return -ENOMEM;
        for (size_t w = 0; w < words; w++)
            values[w] += part->values[i * words + w];
    }
    return 0;
}

static int compare(const void *a, const void *b, void *context)
{
    const uint64_t *keys = context;
    uint64_t x = keys[*(const uint32_t *)a], y = keys[*(const uint32_t *)b];

    return x < y ? -1 : x > y;
}

static void put_column(const struct view_blocks *blocks, const uint32_t *order, uint32_t word,
                       const char *name, struct view_columns *columns)
{
    size_t words = 1 + blocks->event_count;

    view_columns_begin(columns);
    for (uint32_t i = 0; i < blocks->used; i++)
        view_columns_put(columns, blocks->values[order[i] * words + word]);
    view_columns_end(columns, name);
}

static void put_keys(const struct view_blocks *blocks, const uint32_t *order,
                     struct view_columns *columns)
{
    view_columns_begin(columns);
    for (uint32_t i = 0; i < blocks->used; i++)
        view_columns_put(columns, blocks->keys[order[i]] / KEY_BLOCK - 1);
    view_columns_end(columns, "block");
    view_columns_begin(columns);
    for (uint32_t i = 0; i < blocks->used; i++)
        view_columns_put(columns, blocks->keys[order[i]] % KEY_BLOCK >> VIEW_TREE_NODES_BITS);
    view_columns_end(columns, "group");
    view_columns_begin(columns);
    for (uint32_t i = 0; i < blocks->used; i++)
        view_columns_put(columns, blocks->keys[order[i]] % VIEW_TREE_NODES_MAX);
    view_columns_end(columns, "node");
}

int view_blocks_pack(const struct view_blocks *blocks, struct view_columns *columns)
{
    uint32_t *order = calloc(blocks->used + 1, sizeof *order);
    char name[32] = "samples";

    if (order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < blocks->used; i++)
        order[i] = i;
    qsort_r(order, blocks->used, sizeof *order, compare, blocks->keys);
    put_keys(blocks, order, columns);
    for (uint32_t w = 0; w <= blocks->event_count; w++) {
        if (w != 0)
            snprintf(name, sizeof name, "sum.%u", w - 1);
        put_column(blocks, order, w, name, columns);
    }
    free(order);
    view_columns_set(columns, "block_ticks", json_real(ldexp(1, (int)blocks->shift)));
    return 0;
}
