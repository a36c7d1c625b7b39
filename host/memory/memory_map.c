/* Counts accesses by object, address and time. */
#include "host/memory/memory_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/scan/access_source.h"
#include "lib/hash.h"

#define SPANS_BITS 17u
#define LEAST_SHARE 500u /* an object with fewer than one of so many records is not shown */
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
    uint64_t first, last, records, refused;
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
    } else {
        f->refused++;
    }
}

static bool is_store(const struct memory_cursor *cursor, const struct hr_access *access)
{
    return access_source(cursor->names->info, access).store;
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
        store = is_store(cursor, access);
        f->records++;
        f->first = time < f->first ? time : f->first;
        f->last = time > f->last ? time : f->last;
        add(f, &(struct span){memory_names_find(cursor, access->address, time).key, access->address,
                              access->address, !store, store, cursor->pid});
    }
    return 0;
}

static void drop_finder(struct finder *f)
{
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
    all->refused += f->refused;
    all->first = f->first < all->first ? f->first : all->first;
    all->last = f->last > all->last ? f->last : all->last;
    for (uint32_t i = 0; i < 1u << SPANS_BITS; i++) {
        const struct span *span = &f->places[(i * STRIDE) % (1u << SPANS_BITS)];

        if (span->reads + span->writes != 0)
            add(all, span);
    }
    return 0;
}

static void leave_finder(void * /*owner*/, void *context)
{
    drop_finder(context);
}

static void restart_finder(void *owner)
{
    struct finder *all = owner;

    memset(all->places, 0, sizeof all->places[0] << SPANS_BITS);
    all->used = 0;
    all->records = all->refused = 0;
}

static int take_life(void *context, uint32_t pid, const struct memory_object *object, uint64_t time)
{
    struct memory_map *map = context;
    const struct trace_info *info = map->accesses->names.info;

    (void)pid;
    if (map->life_count == MEMORY_MAP_LIVES ||
        array_grow(&map->lives, map->life_count, sizeof map->lives[0]) != 0)
        return 0;
    map->lives[map->life_count++] = (struct memory_map_life){
        .key = memory_names_site(object->site),
        .address = object->address,
        .bytes = object->bytes,
        .from_ns = trace_info_time_ns(info, object->time),
        .to_ns = time != UINT64_MAX ? trace_info_time_ns(info, time) : UINT64_MAX,
    };
    return 0;
}

static void take_left(void *context, uint32_t pid, const struct memory_object *object)
{
    (void)take_life(context, pid, object, UINT64_MAX);
}

/* Keeps the lives of objects that are in a band. */
static void choose_lives(struct memory_map *map)
{
    size_t kept = 0;

    for (size_t i = 0; i < map->life_count; i++)
        for (uint32_t n = 0; n < map->count; n++)
            if (map->bands[n].first_key == map->lives[i].key) {
                map->lives[kept++] = map->lives[i];
                break;
            }
    map->life_count = kept;
}

static int by_key(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_records(const void *a, const void *b)
{
    const struct memory_map_band *x = a, *y = b;
    uint64_t records = x->reads + x->writes, others = y->reads + y->writes;

    if (records != others)
        return records > others ? -1 : 1;
    return x->first_key < y->first_key ? -1 : x->first_key > y->first_key;
}

static int by_address(const void *a, const void *b)
{
    const struct memory_map_band *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Offers an object: those with the most records stay. */
static void offer(struct memory_map *map, const struct memory_map_band *band)
{
    if (band->reads + band->writes < map->records / LEAST_SHARE) {
        map->left_out++;
        return;
    }
    if (map->count < map->wish.bands) {
        map->bands[map->count++] = *band;
    } else {
        map->left_out++;
        if (by_records(band, &map->bands[map->count - 1]) > 0)
            return;
        map->bands[map->count - 1] = *band;
    }
    for (uint32_t i = map->count - 1; i > 0 && by_records(&map->bands[i], &map->bands[i - 1]) < 0;
         i--) {
        struct memory_map_band swapped = map->bands[i];

        map->bands[i] = map->bands[i - 1];
        map->bands[i - 1] = swapped;
    }
}

static void choose(struct memory_map *map, struct span *spans, uint32_t count)
{
    struct memory_map_band band = {0};

    qsort(spans, count, sizeof spans[0], by_key);
    for (uint32_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];

        if (i != 0 && memory_names_join(band.last_key, span->key)) {
            band.last_key = span->key;
            band.end = span->high + 1;
            band.reads += span->reads;
            band.writes += span->writes;
            continue;
        }
        if (i != 0)
            offer(map, &band);
        band = (struct memory_map_band){.first_key = span->key,
                                        .last_key = span->key,
                                        .start = span->low,
                                        .end = span->high + 1,
                                        .reads = span->reads,
                                        .writes = span->writes,
                                        .pid = span->pid};
    }
    if (count != 0)
        offer(map, &band);
    qsort(map->bands, map->count, sizeof map->bands[0], by_address);
    for (uint32_t i = 0; i < map->count; i++)
        memory_names_text(&map->accesses->names, map->bands[i].first_key, map->bands[i].name);
}

int memory_map_find(struct memory_map *map, struct memory_accesses *accesses,
                    const struct memory_map_wish *wish)
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

    *map = (struct memory_map){.accesses = accesses, .wish = *wish};
    accesses->sink =
        (struct memory_heap_sink){.context = map, .freed = take_life, .left = take_left};
    all.places = calloc(1u << SPANS_BITS, sizeof all.places[0]);
    error = all.places != NULL ? memory_accesses_walk(accesses, &team) : -ENOMEM;
    if (error == 0 && accesses->names.heap != NULL)
        error = memory_heap_finish(&accesses->heap);
    accesses->sink = (struct memory_heap_sink){0};
    for (uint32_t i = 0; error == 0 && i < 1u << SPANS_BITS; i++)
        if (all.places[i].reads + all.places[i].writes != 0)
            all.places[count++] = all.places[i];
    if (error == 0 && count == 0)
        error = -ENODATA;
    if (error == 0) {
        map->records = all.records;
        map->from_ns = trace_info_time_ns(accesses->names.info, all.first);
        map->to_ns = trace_info_time_ns(accesses->names.info, all.last) + 1;
        choose(map, all.places, count);
        choose_lives(map);
    }
    free(all.places);
    return error;
}
