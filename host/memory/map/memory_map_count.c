/* Counts the accesses of a map's objects by address and time. */
#include <stdlib.h>
#include <string.h>

#include "host/memory/map/memory_map_parts.h"
#include "host/scan/access_source.h"

static size_t cells_of(const struct memory_map *map, uint32_t band)
{
    return (size_t)map->bins * map->bands[band].rows;
}

struct counting { /* of one worker */
    const struct memory_map *map;
    struct memory_map_cell *cells[MEMORY_MAP_BANDS];
};

/* The cell of an access; NULL: it is in none. */
static struct memory_map_cell *cell_of(struct counting *c, uint32_t n, uint64_t address,
                                       uint64_t ns)
{
    const struct memory_map *map = c->map;
    const struct memory_map_band *band = &map->bands[n];
    uint64_t row, bin;

    if (ns < map->from_ns || ns >= map->to_ns || address < band->start || address >= band->end)
        return NULL; /* of another process, which has the object elsewhere */
    row = (uint64_t)((double)(address - band->start) * band->rows /
                     (double)(band->end - band->start));
    bin = (uint64_t)((double)(ns - map->from_ns) * map->bins / (double)(map->to_ns - map->from_ns));
    if (row >= band->rows || bin >= map->bins)
        return NULL;
    return &c->cells[n][bin * band->rows + row];
}

static void meet(struct memory_map_cell *cell, uint32_t tid)
{
    if (cell->tid == 0)
        cell->tid = tid;
    else if (tid != 0 && cell->tid != tid)
        cell->tid = MEMORY_MAP_SEVERAL;
}

static void count_one(struct counting *c, struct memory_cursor *cursor,
                      const struct trace_slot *slot, const struct hr_access *access)
{
    uint32_t n =
        memory_map_band_of(c->map, memory_names_find(cursor, access->address, slot->time).key);
    struct memory_map_cell *cell;

    if (n == MEMORY_MAP_BANDS)
        return;
    cell = cell_of(c, n, access->address, trace_info_time_ns(cursor->names->info, slot->time));
    if (cell == NULL)
        return;
    if (access_source(cursor->names->info, access).store)
        cell->writes++;
    else
        cell->reads++;
    cell->timed += access->latency != 0;
    cell->latency += access->latency;
    meet(cell, slot->tid);
}

static int count_samples(void *context, struct memory_cursor *cursor,
                         const struct trace_samples *samples)
{
    struct counting *c = context;

    for (uint32_t n = 0; n < samples->count; n++)
        if (memory_map_wants(c->map, samples->accesses[n].address))
            count_one(c, cursor, &samples->slots[n], &samples->accesses[n]);
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
            struct memory_map_cell *cell = &map->bands[i].cells[n];

            cell->reads += c->cells[i][n].reads;
            cell->writes += c->cells[i][n].writes;
            cell->timed += c->cells[i][n].timed;
            cell->latency += c->cells[i][n].latency;
            meet(cell, c->cells[i][n].tid);
        }
    return 0;
}

static void restart_counting(void *owner)
{
    struct memory_map *map = owner;

    for (uint32_t i = 0; i < map->count; i++)
        memset(map->bands[i].cells, 0, cells_of(map, i) * sizeof map->bands[i].cells[0]);
}

struct lives { /* of a walk */
    struct memory_map *map;
    struct memory_accesses *accesses;
};

static int take_life(void *context, uint32_t /*pid*/, const struct memory_object *object,
                     uint64_t time)
{
    const struct lives *lives = context;
    uint32_t band = memory_map_band_of(lives->map, memory_names_site(object->site));

    return band != MEMORY_MAP_BANDS
               ? memory_map_lives_add(lives->map, band, lives->accesses->names.info, object, time)
               : 0;
}

static void take_left(void *context, uint32_t pid, const struct memory_object *object)
{
    (void)take_life(context, pid, object, UINT64_MAX);
}

int memory_map_accesses_count(struct memory_map *map, struct memory_accesses *accesses)
{
    const struct memory_team team = {.owner = map,
                                     .join = join_counting,
                                     .samples = count_samples,
                                     .take = take_counting,
                                     .leave = leave_counting,
                                     .restart = restart_counting};
    struct lives lives = {map, accesses};
    bool heap = accesses->names.heap != NULL;
    int error = heap ? memory_map_lives_begin(map) : 0;

    accesses->sink =
        (struct memory_heap_sink){.context = &lives, .freed = take_life, .left = take_left};
    if (error == 0)
        error = memory_accesses_walk(accesses, &team);
    if (error == 0 && heap)
        error = memory_heap_finish(&accesses->heap);
    accesses->sink = (struct memory_heap_sink){0};
    memory_map_lives_end(map);
    return error;
}
