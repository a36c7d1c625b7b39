/* Interns groups of samples. */
#include "host/report/groups.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define INDEX_BITS 17u /* twice the groups: never more than half full */

int groups_init(struct groups *groups)
{
    *groups = (struct groups){.count = 1};
    groups->all = calloc(GROUPS_MAX, sizeof groups->all[0]);
    groups->index = calloc(1u << INDEX_BITS, sizeof groups->index[0]);
    return groups->all != NULL && groups->index != NULL ? 0 : -ENOMEM;
}

void groups_free(struct groups *groups)
{
    free(groups->all);
    free(groups->index);
    *groups = (struct groups){0};
}

static bool same(const struct group *a, const struct group *b)
{
    return a->cpu == b->cpu && a->tid == b->tid && a->section == b->section &&
           a->process == b->process;
}

uint32_t groups_find(struct groups *groups, struct group group)
{
    uint64_t key = ((uint64_t)group.tid << 32 | group.cpu) ^ (uint64_t)group.section << 20 ^
                   (uint64_t)group.process << 40;
    uint32_t i = hash_place(key, INDEX_BITS);

    for (; groups->index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1))
        if (same(&groups->all[groups->index[i]], &group))
            return groups->index[i];
    if (groups->count == GROUPS_MAX) {
        groups->full = true;
        return GROUPS_OTHERS;
    }
    groups->all[groups->count] = group;
    groups->index[i] = groups->count;
    return groups->count++;
}
