/* Makes a map of allocations alone: a band for each place in the program that allocates, with all
 * of its call stacks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/memory/allocations/memory_where.h"
#include "host/memory/map/memory_map_parts.h"

#define NO_BAND UINT8_MAX
_Static_assert(MEMORY_MAP_BANDS <= NO_BAND, "numbers of bands");

struct site {
    uint64_t low, high; /* of the addresses of its objects */
    uint64_t bytes; /* in all; 0: no object */
    uint64_t where; /* address of its place in the program */
    uint32_t number, pid;
    uint8_t band;
};

struct walk {
    struct memory_map *map;
    struct memory_heap heap;
    struct site *sites; /* by number; owned */
    size_t count;
    uint64_t first, last; /* ticks */
};

static struct site *site_of(struct walk *w, uint32_t number)
{
    while (w->count <= number) {
        if (array_grow(&w->sites, w->count, sizeof w->sites[0]) != 0)
            return NULL;
        w->sites[w->count] = (struct site){.number = (uint32_t)w->count, .band = NO_BAND};
        w->count++;
    }
    return &w->sites[number];
}

static int find_object(void *context, uint32_t pid, const struct memory_object *object)
{
    struct walk *w = context;
    struct site *site;
    uint64_t high = object->address + object->bytes;

    if (!memory_map_wants(w->map, object->address) || high < object->address)
        return 0;
    site = site_of(w, object->site);
    if (site == NULL)
        return -ENOMEM;
    if (site->bytes == 0)
        *site = (struct site){.low = object->address, .number = object->site, .pid = pid};
    high = high > object->address ? high : high + 1;
    site->low = object->address < site->low ? object->address : site->low;
    site->high = high > site->high ? high : site->high;
    site->bytes += object->bytes + 1; /* of nothing, too */
    w->first = object->time < w->first ? object->time : w->first;
    w->last = object->time > w->last ? object->time : w->last;
    return 0;
}

static int find_end(void *context, uint32_t /*pid*/, const struct memory_object * /*object*/,
                    uint64_t time)
{
    struct walk *w = context;

    w->last = time > w->last ? time : w->last;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct site *x = a, *y = b;

    if (x->where != y->where)
        return x->where < y->where ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
    const struct site *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* Offers each place: its sites are next to each other.  A band's key is the number of the one with
 * most bytes, and while bands are chosen the place is its last key. */
static void choose(struct walk *w)
{
    struct memory_map *map = w->map;
    struct memory_map_band band = {0};
    uint64_t most = 0;

    qsort(w->sites, w->count, sizeof w->sites[0], by_place);
    for (size_t i = 0; i < w->count; i++) {
        const struct site *site = &w->sites[i];

        if (site->bytes == 0)
            continue;
        if (band.weight != 0 && site->where == band.last_key) {
            band.start = site->low < band.start ? site->low : band.start;
            band.end = site->high > band.end ? site->high : band.end;
            band.weight += site->bytes;
            band.first_key = site->bytes > most ? site->number : band.first_key;
            most = site->bytes > most ? site->bytes : most;
            continue;
        }
        if (band.weight != 0)
            memory_map_offer(map, &band);
        most = site->bytes;
        band = (struct memory_map_band){.first_key = site->number,
                                        .last_key = site->where,
                                        .start = site->low,
                                        .end = site->high,
                                        .weight = site->bytes,
                                        .pid = site->pid};
    }
    if (band.weight != 0)
        memory_map_offer(map, &band);
    memory_map_sort(map);
}

static int name_bands(struct walk *w, struct symbols *symbols, const struct trace_scan *scan)
{
    struct memory_map *map = w->map;

    for (size_t i = 0; i < w->count; i++) {
        struct memory_where where;

        if (w->sites[i].bytes == 0)
            continue;
        memory_where_find(&where, symbols, &scan->stacks,
                          memory_sites_at(&w->heap.sites, w->sites[i].number));
        w->sites[i].where = where.address;
        map->weight += w->sites[i].bytes;
    }
    choose(w);
    for (uint32_t n = 0; n < map->count; n++) {
        struct memory_map_band *band = &map->bands[n];
        const struct memory_site *site = memory_sites_at(&w->heap.sites, (uint32_t)band->first_key);
        char place[MEMORY_WHERE_BYTES];
        struct memory_where where;

        memory_where_find(&where, symbols, &scan->stacks, site);
        memory_where_text(&where, place);
        snprintf(band->name, sizeof band->name, "heap: %s", place);
        band->detail = memory_map_stack(symbols, &scan->stacks, site);
        for (size_t i = 0; i < w->count; i++)
            if (w->sites[i].bytes != 0 && w->sites[i].where == band->last_key)
                w->sites[i].band = (uint8_t)n;
    }
    qsort(w->sites, w->count, sizeof w->sites[0], by_number);
    return map->count != 0 ? 0 : -ENODATA;
}

static int add_life(void *context, uint32_t /*pid*/, const struct memory_object *object,
                    uint64_t time)
{
    const struct walk *w = context;
    uint8_t band = object->site < w->count ? w->sites[object->site].band : NO_BAND;

    if (band == NO_BAND || !memory_map_wants(w->map, object->address))
        return 0;
    return memory_map_lives_add(w->map, band, &w->heap.scan->info, object, time);
}

static void add_left(void *context, uint32_t pid, const struct memory_object *object)
{
    (void)add_life(context, pid, object, UINT64_MAX);
}

/* The first walk. */
static int find(struct walk *w, struct trace_scan *scan)
{
    const struct trace_info *info = &scan->info;
    struct symbols *symbols = NULL;
    int error;

    memory_heap_init(&w->heap, scan);
    w->heap.sink =
        (struct memory_heap_sink){.context = w, .allocated = find_object, .freed = find_end};
    error = memory_heap_run(&w->heap, scan, true);
    if (error == 0 && w->count == 0)
        error = -ENODATA;
    if (error == 0)
        error = symbols_open(&symbols, info, scan->symbols);
    if (error == 0)
        error = name_bands(w, symbols, scan);
    if (info->has_exit && info->exit.time > w->last && scan->selection.to_ns == UINT64_MAX)
        w->last = info->exit.time;
    w->map->from_ns = trace_info_time_ns(info, w->first);
    w->map->to_ns = trace_info_time_ns(info, w->last) + 1;
    symbols_close(symbols);
    memory_heap_free(&w->heap);
    return error;
}

int memory_map_allocations(struct memory_map *map, struct trace_scan *scan)
{
    struct walk w = {.map = map, .first = UINT64_MAX};
    int error = find(&w, scan);

    if (error == 0)
        error = memory_map_rows(map);
    if (error == 0)
        error = memory_map_lives_begin(map);
    if (error == 0)
        error = trace_scan_rewind(scan);
    memory_heap_init(&w.heap, scan);
    w.heap.sink = (struct memory_heap_sink){.context = &w, .freed = add_life, .left = add_left};
    if (error == 0)
        error = memory_heap_run(&w.heap, scan, true);
    memory_map_lives_end(map);
    memory_heap_free(&w.heap);
    free(w.sites);
    return error;
}
