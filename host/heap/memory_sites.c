/* Numbers sites by a hash table. */
#include "host/heap/memory_sites.h"

#include <stdlib.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_BITS 8u

void memory_sites_free(struct memory_sites *sites)
{
    free(sites->all);
    free(sites->index);
    *sites = (struct memory_sites){0};
}

static uint32_t *place_of(const struct memory_sites *sites, const struct memory_site *site)
{
    uint64_t hash = hash_mix(hash_mix(site->caller, site->function), site->stack);
    uint32_t at = hash_place(hash, sites->bits);

    while (sites->index[at] != 0 && (sites->all[sites->index[at]].caller != site->caller ||
                                     sites->all[sites->index[at]].function != site->function ||
                                     sites->all[sites->index[at]].stack != site->stack))
        at = (at + 1) & ((1u << sites->bits) - 1);
    return &sites->index[at];
}

/* Returns whether there is room for one more. */
static int make_room(struct memory_sites *sites)
{
    uint32_t bits = sites->index == NULL ? FIRST_BITS : sites->bits + 1, *index;

    if (sites->index != NULL && 2 * sites->count < 1u << sites->bits)
        return 1;
    index = calloc((size_t)1 << bits, sizeof *index);
    if (index == NULL)
        return 0;
    free(sites->index);
    sites->index = index;
    sites->bits = bits;
    for (uint32_t i = 1; i < sites->count; i++)
        *place_of(sites, &sites->all[i]) = i;
    return 1;
}

uint32_t memory_sites_number(struct memory_sites *sites, const struct memory_site *site)
{
    uint32_t *place;

    if (sites->count == 0) {
        if (array_grow(&sites->all, 0, sizeof *site) != 0)
            return MEMORY_SITES_NONE;
        sites->all[sites->count++] = (struct memory_site){.function = UINT32_MAX};
    }
    if (!make_room(sites))
        return MEMORY_SITES_NONE;
    place = place_of(sites, site);
    if (*place != 0 || sites->count == MEMORY_SITES_MAX ||
        array_grow(&sites->all, sites->count, sizeof *site) != 0)
        return *place;
    *place = sites->count;
    sites->all[sites->count++] = *site;
    return *place;
}
