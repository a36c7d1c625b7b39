/* Counts the accesses of a map's objects by address and time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/memory/memory_map.h"
#include "host/scan/access_source.h"

/* The band of a key; MEMORY_MAP_BANDS: none. */
static uint32_t band_of(const struct memory_map *map, uint64_t key)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (key >= map->bands[i].first_key && key <= map->bands[i].last_key)
            return i;
    return MEMORY_MAP_BANDS;
}

static size_t cells_of(const struct memory_map *map, uint32_t band)
{
    return (size_t)map->wish.bins * map->bands[band].rows;
}

struct counting { /* of one worker */
    const struct memory_map *map;
    struct memory_map_cell *cells[MEMORY_MAP_BANDS];
};

static void count_one(struct counting *c, struct memory_cursor *cursor, uint64_t time,
                      const struct hr_access *access)
{
    const struct memory_map *map = c->map;
    uint32_t n = band_of(map, memory_names_find(cursor, access->address, time).key);
    uint64_t ns = trace_info_time_ns(cursor->names->info, time), row, bin;
    const struct memory_map_band *band;
    struct memory_map_cell *cell;

    if (n == MEMORY_MAP_BANDS || ns < map->from_ns || ns >= map->to_ns)
        return;
    band = &map->bands[n];
    if (access->address < band->start || access->address >= band->end)
        return; /* of another process, which has the object elsewhere */
    row = (uint64_t)((double)(access->address - band->start) * band->rows /
                     (double)(band->end - band->start));
    bin = (uint64_t)((double)(ns - map->from_ns) * map->wish.bins /
                     (double)(map->to_ns - map->from_ns));
    if (row >= band->rows || bin >= map->wish.bins)
        return;
    cell = &c->cells[n][bin * band->rows + row];
    if (access_source(cursor->names->info, access).store)
        cell->writes++;
    else
        cell->reads++;
}

static int count_samples(void *context, struct memory_cursor *cursor,
                         const struct trace_samples *samples)
{
    struct counting *c = context;

    for (uint32_t n = 0; n < samples->count; n++)
        if (memory_map_wants(c->map, samples->accesses[n].address))
            count_one(c, cursor, samples->slots[n].time, &samples->accesses[n]);
    return 0;
}

static void leave_counting(void *owner, void *context)
{
    const struct memory_map *map = owner;
    struct counting *c = context;

    for (uint32_t i = 0; i < map->count; i++)
        free(c->cells[i]);
    free(c);
}

static void *join_counting(void *owner)
{
    const struct memory_map *map = owner;
    struct counting *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->map = map;
    for (uint32_t i = 0; i < map->count; i++) {
        c->cells[i] = calloc(cells_of(map, i) + 1, sizeof c->cells[i][0]);
        if (c->cells[i] == NULL) {
            leave_counting(owner, c);
            return NULL;
        }
    }
    return c;
}

static int take_counting(void *owner, void *context)
{
    struct memory_map *map = owner;
    const struct counting *c = context;

    for (uint32_t i = 0; i < map->count; i++)
        for (size_t n = 0; n < cells_of(map, i); n++) {
            map->bands[i].cells[n].reads += c->cells[i][n].reads;
            map->bands[i].cells[n].writes += c->cells[i][n].writes;
        }
    return 0;
}

static void restart_counting(void *owner)
{
    struct memory_map *map = owner;

    for (uint32_t i = 0; i < map->count; i++)
        memset(map->bands[i].cells, 0, cells_of(map, i) * sizeof map->bands[i].cells[0]);
}

int memory_map_count(struct memory_map *map)
{
    const struct memory_team team = {.owner = map,
                                     .join = join_counting,
                                     .samples = count_samples,
                                     .take = take_counting,
                                     .leave = leave_counting,
                                     .restart = restart_counting};

    for (uint32_t i = 0; i < map->count; i++) {
        map->bands[i].cells = calloc(cells_of(map, i) + 1, sizeof map->bands[i].cells[0]);
        if (map->bands[i].cells == NULL)
            return -ENOMEM;
    }
    return memory_accesses_walk(map->accesses, &team);
}

void memory_map_free(struct memory_map *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        free(map->bands[i].cells);
    free(map->lives);
    map->lives = NULL;
    map->count = 0;
}
