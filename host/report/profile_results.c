/* Orders what was counted, and finds callers in it. */
#include "host/report/profile.h"

/* Equal rows are ordered by group, then by place. */
static int before(const struct row *a, const struct row *b, void *context)
{
    const struct profile *p = context;
    const struct group *g = &p->groups.all[a->group], *h = &p->groups.all[b->group];

    if (g->section != h->section)
        return g->section < h->section ? -1 : 1;
    if (g->process != h->process)
        return g->process < h->process ? -1 : 1;
    if (g->tid != h->tid)
        return g->tid < h->tid ? -1 : 1;
    if (g->cpu != h->cpu)
        return g->cpu < h->cpu ? -1 : 1;
    return places_compare(&p->places, a->place, b->place);
}

static int place_before(uint32_t a, uint32_t b, void *context)
{
    const struct profile *p = context;

    return places_compare(&p->places, a, b);
}

int profile_sort(struct profile *profile, bool total)
{
    if (profile->ready && !profile->options->tree)
        rows_sort(&profile->rows, profile->event, total, before, profile);
    return profile->ready && profile->options->tree
               ? tree_finish(&profile->tree, place_before, profile)
               : 0;
}

/* Adds the chain that ends in a node, from the innermost call of the function outwards. */
static void add_callers(const struct profile *p, const struct function_choice *function,
                        uint32_t node, struct tree *callers)
{
    uint64_t self = p->tree.nodes[node].self;
    uint32_t at = TREE_ROOT;
    bool found = false;

    for (; node != TREE_ROOT; node = p->tree.nodes[node].parent) {
        uint32_t place = p->tree.nodes[node].place;
        const struct place *frame = &p->places.all[place];

        found = found || (frame->kind == PLACE_FRAME &&
                          function_choice_has(function, frame->name, frame->object));
        if (found)
            at = tree_child(callers, at, place);
    }
    if (found)
        callers->nodes[at].self += self;
}

void profile_offer_frames(const struct profile *profile, struct function_choice *choice)
{
    for (uint32_t i = PLACES_RESERVED; i < profile->places.count; i++)
        if (profile->places.all[i].kind == PLACE_FRAME)
            function_choice_offer(choice, profile->places.all[i].name,
                                  profile->places.all[i].object);
}

int profile_callers(struct profile *profile, const struct function_choice *function,
                    struct tree *callers)
{
    int error = tree_init(callers);

    for (uint32_t i = 1; i < profile->tree.count && error == 0; i++)
        if (profile->tree.nodes[i].self != 0)
            add_callers(profile, function, i, callers);
    return error == 0 ? tree_finish(callers, place_before, profile) : error;
}
