/* Finds the objects of a map of accesses. */
#include "host/memory/map/memory_map_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/scan/access_source.h"
#include "lib/hash.h"

#define SPANS_BITS 17u
#define STRIDE 0x9e3779b1u /* odd */

struct span { /* what was accessed of an object */
    uint64_t key;
    uint64_t low, high; /* both inclusive */
    uint64_t reads, writes; /* 0 both: a free place */
    uint32_t pid;
};

struct finder {
    const struct memory_map *map;
    struct span *places; /* 1 << SPANS_BITS */
    uint32_t used;
    uint64_t first, last, records;
};

static struct span *place_of(struct finder *f, uint64_t key)
{
    uint32_t i = hash_place(key, SPANS_BITS);

    while (f->places[i].reads + f->places[i].writes != 0 && f->places[i].key != key)
        i = (i + 1) % (1u << SPANS_BITS);
    return &f->places[i];
}

static void add(struct finder *f, const struct span *more)
{
    struct span *span = place_of(f, more->key);

    if (span->reads + span->writes != 0) {
        span->low = more->low < span->low ? more->low : span->low;
        span->high = more->high > span->high ? more->high : span->high;
        span->reads += more->reads;
        span->writes += more->writes;
    } else if (f->used < (1u << SPANS_BITS) / 4 * 3) {
        *span = *more;
        f->used++;
    }
}

static int find_samples(void *context, struct memory_cursor *cursor,
                        const struct trace_samples *samples)
{
    struct finder *f = context;

    for (uint32_t n = 0; n < samples->count; n++) {
        const struct hr_access *access = &samples->accesses[n];
        uint64_t time = samples->slots[n].time;
        bool store;

        if (!memory_map_wants(f->map, access->address))
            continue;
        store = access_source(cursor->names->info, access).store;
        f->records++;
        f->first = time < f->first ? time : f->first;
        f->last = time > f->last ? time : f->last;
        add(f, &(struct span){memory_names_find(cursor, access->address, time).key, access->address,
                              access->address, !store, store, cursor->pid});
    }
    return 0;
}

static void leave_finder(void * /*owner*/, void *context)
{
    struct finder *f = context;

    free(f->places);
    free(f);
}

static void *join_finder(void *owner)
{
    const struct finder *all = owner;
    struct finder *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    *f = (struct finder){.map = all->map, .first = UINT64_MAX};
    f->places = calloc(1u << SPANS_BITS, sizeof f->places[0]);
    if (f->places != NULL)
        return f;
    free(f);
    return NULL;
}

static int take_finder(void *owner, void *context)
{
    struct finder *all = owner;
    const struct finder *f = context;

    all->records += f->records;
    all->first = f->first < all->first ? f->first : all->first;
    all->last = f->last > all->last ? f->last : all->last;
    for (uint32_t i = 0; i < 1u << SPANS_BITS; i++) {
        const struct span *span = &f->places[(i * STRIDE) % (1u << SPANS_BITS)];

        if (span->reads + span->writes != 0)
            add(all, span);
    }
    return 0;
}

static void restart_finder(void *owner)
{
    struct finder *all = owner;

    memset(all->places, 0, sizeof all->places[0] << SPANS_BITS);
    all->used = 0;
    all->records = 0;
}

static int by_key(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void choose(struct memory_map *map, struct span *spans, uint32_t count)
{
    struct memory_map_band band = {0};

    qsort(spans, count, sizeof spans[0], by_key);
    for (uint32_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        uint64_t end = span->high + (span->high != UINT64_MAX);

        if (i != 0 && memory_names_join(band.last_key, span->key)) {
            band.last_key = span->key;
            band.end = end;
            band.reads += span->reads;
            band.writes += span->writes;
            band.weight = band.reads + band.writes;
            continue;
        }
        if (i != 0)
            memory_map_offer(map, &band);
        band = (struct memory_map_band){.first_key = span->key,
                                        .last_key = span->key,
                                        .start = span->low,
                                        .end = end,
                                        .reads = span->reads,
                                        .writes = span->writes,
                                        .weight = span->reads + span->writes,
                                        .pid = span->pid};
    }
    if (count != 0)
        memory_map_offer(map, &band);
    memory_map_sort(map);
}

static void name_bands(struct memory_map *map, struct memory_names *names)
{
    for (uint32_t i = 0; i < map->count; i++) {
        struct memory_map_band *band = &map->bands[i];

        memory_names_text(names, band->first_key, band->name);
        if (memory_names_kind(band->first_key) == MEMORY_SITE)
            band->detail =
                memory_map_stack(names->symbols, names->stacks,
                                 memory_sites_at(&names->heap->sites, (uint32_t)band->first_key));
    }
}

int memory_map_accesses_find(struct memory_map *map, struct memory_accesses *accesses)
{
    struct finder all = {.map = map, .first = UINT64_MAX};
    const struct memory_team team = {.owner = &all,
                                     .join = join_finder,
                                     .samples = find_samples,
                                     .take = take_finder,
                                     .leave = leave_finder,
                                     .restart = restart_finder};
    uint32_t count = 0;
    int error;

    all.places = calloc(1u << SPANS_BITS, sizeof all.places[0]);
    error = all.places != NULL ? memory_accesses_walk(accesses, &team) : -ENOMEM;
    for (uint32_t i = 0; error == 0 && i < 1u << SPANS_BITS; i++)
        if (all.places[i].reads + all.places[i].writes != 0)
            all.places[count++] = all.places[i];
    if (error == 0 && count == 0)
        error = -ENODATA;
    if (error == 0) {
        map->weight = all.records;
        map->from_ns = trace_info_time_ns(accesses->names.info, all.first);
        map->to_ns = trace_info_time_ns(accesses->names.info, all.last) + 1;
        choose(map, all.places, count);
        name_bands(map, &accesses->names);
    }
    free(all.places);
    return error;
}
