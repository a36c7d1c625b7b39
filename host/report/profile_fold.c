/* Turns addresses and stacks into rows, or into a tree of calls. */
#include "host/report/profile_fold.h"

#include <stdlib.h>

struct entry { /* an entry of the tally */
    uint64_t ip;
    uint32_t node;
    uint32_t group; /* the worker's, then the profile's */
    uint64_t samples;
    const uint64_t *sums;
};

/* A chain of frame pointers that breaks where threads begin is complete. */
static uint32_t end_of(struct profile *p, uint32_t root, uint64_t outermost)
{
    uint32_t place;

    if (root != HR_STACK_BROKEN)
        return root;
    place = places_find(&p->places, PLACE_FUNCTION, outermost);
    return symbols_is_start(p->places.all[place].name) ? HR_STACK_WHOLE : HR_STACK_BROKEN;
}

static void count_total(struct profile *p, const struct entry *e, uint32_t row)
{
    if (p->rows.stamps[row] == p->stamp) /* recursion counts once */
        return;
    p->rows.stamps[row] = p->stamp;
    rows_add(&p->rows.all[row].total, e->samples, e->sums, p->event_count);
}

/* A stack's node caches its row if all samples are in one group, else its place. */
static uint32_t row_of_node(struct profile_worker *w, const struct entry *e, uint32_t node)
{
    struct profile *p = w->profile;
    const struct profile_options *o = p->options;
    bool grouped = o->by_cpu || o->by_process || o->by_thread || o->sections != NULL;
    uint64_t address = w->scan->stacks.nodes[node].address - 1;

    if (grouped) {
        if (w->nodes[node] == 0)
            w->nodes[node] = places_find(&p->places, o->by, address);
        return rows_number(&p->rows, e->group, w->nodes[node]);
    }
    if (w->nodes[node] == 0)
        w->nodes[node] =
            1 + rows_number(&p->rows, e->group, places_find(&p->places, o->by, address));
    return w->nodes[node] - 1;
}

static uint32_t row_of(struct profile_worker *w, const struct entry *e)
{
    struct profile *p = w->profile;

    if (!p->options->python)
        return rows_number(&p->rows, e->group, places_find(&p->places, p->options->by, e->ip));
    if (e->node >= HR_STACK_ROOTS)
        return row_of_node(w, e, e->node);
    return rows_number(&p->rows, e->group, PLACES_NO_PYTHON);
}

static void fold_row(struct profile_worker *w, const struct entry *e)
{
    struct profile *p = w->profile;
    const struct stacks_node *nodes = w->scan->stacks.nodes;
    uint32_t row = row_of(w, e);
    uint64_t outermost = e->ip;
    uint32_t node = e->node;

    rows_add(&p->rows.all[row].self, e->samples, e->sums, p->event_count);
    if (!p->options->stacks)
        return;
    p->stamp++;
    count_total(p, e, row);
    for (; node >= HR_STACK_ROOTS; node = nodes[node].parent) {
        outermost = nodes[node].address - 1;
        count_total(p, e, row_of_node(w, e, node));
    }
    p->ends[end_of(p, node, outermost)] += e->samples;
}

static uint32_t below_frames(struct profile *p, uint32_t parent, uint64_t address)
{
    uint32_t frames[SYMBOLS_FRAMES_MAX];

    for (uint32_t i = places_frames(&p->places, address, frames); i-- > 0;)
        parent = tree_child(&p->tree, parent, frames[i]);
    return parent;
}

/* Returns the tree's node below which a stack begins. */
static uint32_t base_of(struct profile *p, uint32_t end)
{
    static const uint32_t places[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = PLACES_NO_STACK,
        [HR_STACK_CUT] = PLACES_TRUNCATED,
        [HR_STACK_BROKEN] = PLACES_BROKEN,
    };

    return end == HR_STACK_WHOLE ? TREE_ROOT : tree_child(&p->tree, TREE_ROOT, places[end]);
}

#define END_SHIFT 30 /* of what is known of a stack's node: the tree's node, and how stacks end */

_Static_assert(HR_STACK_ROOTS <= 1u << (32 - END_SHIFT) && TREE_NODES_MAX <= 1u << END_SHIFT,
               "both fit");

/* Returns what is known of a stack's node that is not a root.  Goes outwards to a known node, and
 * back. */
static uint32_t learn(struct profile_worker *w, uint32_t node)
{
    struct profile *p = w->profile;
    const struct stacks_node *nodes = w->scan->stacks.nodes;
    uint32_t path[HR_STACK_FRAMES_MAX];
    uint32_t depth = 0, outermost = node, at, end;

    while (node >= HR_STACK_ROOTS && w->nodes[node] == 0 && depth < HR_STACK_FRAMES_MAX) {
        path[depth++] = outermost = node;
        node = nodes[node].parent;
    }
    if (node >= HR_STACK_ROOTS && w->nodes[node] != 0) {
        end = w->nodes[node] >> END_SHIFT;
        at = w->nodes[node] & ((1u << END_SHIFT) - 1);
    } else {
        end = node >= HR_STACK_ROOTS ? HR_STACK_CUT : end_of(p, node, nodes[outermost].address - 1);
        at = base_of(p, end);
    }
    while (depth-- > 0) {
        at = below_frames(p, at, nodes[path[depth]].address - 1);
        w->nodes[path[depth]] = end << END_SHIFT | at;
    }
    return end << END_SHIFT | at;
}

static void fold_stack(struct profile_worker *w, const struct entry *e)
{
    struct profile *p = w->profile;
    uint32_t at, end, known;

    if (e->node >= HR_STACK_ROOTS) {
        known = w->nodes[e->node] != 0 ? w->nodes[e->node] : learn(w, e->node);
        end = known >> END_SHIFT;
        at = known & ((1u << END_SHIFT) - 1);
    } else {
        end = end_of(p, e->node, e->ip);
        at = base_of(p, end);
    }
    p->ends[end] += e->samples;
    at = below_frames(p, at, e->ip);
    p->tree.nodes[at].self += p->event < 0 ? e->samples : e->sums[p->event];
}

#define BATCH 16u /* entries whose tables are fetched together: they are in memory far away */

/* What is most likely looked up for an entry: where its stack is known, the function of its ip
 * below it; else the stack's innermost function below its caller. */
static void fetch(struct profile_worker *w, const struct entry *entries, uint32_t count)
{
    struct profile *p = w->profile;
    const struct stacks_node *nodes = w->scan->stacks.nodes;
    uint32_t at[BATCH], place[BATCH];

    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&w->nodes[entries[i].node]);
        __builtin_prefetch(&nodes[entries[i].node]);
        places_prefetch(&p->places, entries[i].ip);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct stacks_node *node = &nodes[entries[i].node];
        uint32_t known = w->nodes[entries[i].node];

        place[i] = places_known(&p->places, known != 0 ? entries[i].ip : node->address - 1);
        at[i] = (known != 0 ? known : w->nodes[node->parent]) & ((1u << END_SHIFT) - 1);
        tree_prefetch(&p->tree, at[i], place[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        tree_prefetch_node(&p->tree, at[i], place[i]);
}

/* Takes a batch of entries out of the tally.  Returns how many. */
static uint32_t take(struct profile_worker *w, uint32_t *place, struct entry *entries)
{
    const uint64_t *words;
    uint32_t count = 0;

    for (; count < BATCH && (words = tally_next(&w->tally, place)) != NULL; ++*place)
        entries[count++] = (struct entry){
            .ip = words[TALLY_IP],
            .node = tally_node(words),
            .group = tally_group(words),
            .samples = words[TALLY_SAMPLES],
            .sums = words + TALLY_SUMS,
        };
    return count;
}

int profile_fold(struct profile_worker *w)
{
    struct profile *p = w->profile;
    struct entry entries[BATCH];
    uint32_t place = 0, last = UINT32_MAX, group = 0, count;
    int error = stacks_extend(&w->scan->stacks, &w->nodes, &w->node_count, sizeof w->nodes[0]);

    while (error == 0 && (count = take(w, &place, entries)) != 0) {
        if (p->options->tree)
            fetch(w, entries, count);
        for (struct entry *e = entries; e < entries + count; e++) {
            if (e->group != last)
                group = groups_find(&p->groups, w->groups.all[last = e->group]);
            e->group = group;
            rows_add(&p->all, e->samples, e->sums, p->event_count);
            if (p->options->tree)
                fold_stack(w, e);
            else
                fold_row(w, e);
        }
    }
    return error;
}
