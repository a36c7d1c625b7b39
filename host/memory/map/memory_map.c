/* What all maps of memory have in common: which bands they have, and how many rows each. */
#include "host/memory/map/memory_map_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/memory/allocations/memory_where.h"

#define LEAST_SHARE 500u /* an object with less than one in so many of all is not shown */
#define FRAMES_SHOWN 16u

const char *const memory_map_of_names[MEMORY_MAP_OFS] = {"any", "accesses", "pages", "allocations"};

const struct memory_map_wish memory_map_fine = {
    .to_address = UINT64_MAX,
    .bands = 24,
    .bins = 320,
    .lives = 4096,
    .rows = 128,
    .rows_least = 2,
};

static bool is_before(const struct memory_map_band *a, const struct memory_map_band *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->first_key < b->first_key;
}

void memory_map_offer(struct memory_map *map, const struct memory_map_band *band)
{
    uint32_t at = map->count;

    bool small = map->count != 0 && band->weight < map->weight / LEAST_SHARE;

    if (small || band->start >= band->end) {
        map->left_out++;
        return;
    }
    if (map->count < map->wish.bands) {
        map->count++;
    } else {
        map->left_out++;
        at--;
        if (!is_before(band, &map->bands[at]))
            return;
    }
    for (; at > 0 && is_before(band, &map->bands[at - 1]); at--)
        map->bands[at] = map->bands[at - 1];
    map->bands[at] = *band;
}

static int by_address(const void *a, const void *b)
{
    const struct memory_map_band *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->first_key < y->first_key ? -1 : x->first_key > y->first_key;
}

void memory_map_sort(struct memory_map *map)
{
    while (map->count > 1 && map->bands[map->count - 1].weight < map->weight / LEAST_SHARE) {
        map->count--;
        map->left_out++;
    }
    qsort(map->bands, map->count, sizeof map->bands[0], by_address);
}

char *memory_map_stack(struct symbols *symbols, const struct stacks *stacks,
                       const struct memory_site *site)
{
    char *text = malloc((size_t)FRAMES_SHOWN * MEMORY_WHERE_BYTES), frame[MEMORY_WHERE_BYTES];
    size_t used = 0;

    for (uint32_t i = 0;
         text != NULL && i < FRAMES_SHOWN && memory_where_frame(symbols, stacks, site, i, frame);
         i++)
        used += (size_t)sprintf(text + used, "%s%s", i != 0 ? "\n" : "", frame);
    if (used == 0) {
        free(text);
        return NULL;
    }
    return text;
}

uint32_t memory_map_band_of(const struct memory_map *map, uint64_t key)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (key >= map->bands[i].first_key && key <= map->bands[i].last_key)
            return i;
    return MEMORY_MAP_BANDS;
}

bool memory_map_line(const char **detail, char line[MEMORY_MAP_LINE])
{
    size_t bytes;

    if (*detail == NULL || **detail == 0)
        return false;
    bytes = strcspn(*detail, "\n");
    snprintf(line, MEMORY_MAP_LINE, "%.*s", (int)bytes, *detail);
    *detail += bytes + ((*detail)[bytes] != 0);
    return true;
}

/* Rows grow slowly with an object's size and with what there is of it: a variable is seen next to a
 * table. */
static double share_of(const struct memory_map *map, const struct memory_map_band *band)
{
    double bytes = (double)(band->end - band->start);

    if (map->of == MEMORY_MAP_PAGES)
        return sqrt(bytes);
    return pow(bytes, 0.2) * pow((double)band->weight / ((double)map->weight + 1), 0.2);
}

static uint64_t rows_of(const struct memory_map *map, const struct memory_map_band *band,
                        double all)
{
    uint32_t least = map->wish.rows_least, spare = least * map->count, most = MEMORY_MAP_ROWS;
    uint64_t bytes = band->end - band->start, rows;

    spare = map->wish.rows > spare ? map->wish.rows - spare : 0;
    rows = least + (uint64_t)(spare * share_of(map, band) / all);
    if (map->wish.block_bytes != 0) {
        rows = (bytes - 1) / map->wish.block_bytes + 1;
        most = MEMORY_MAP_ROWS_ALL / map->count < most ? MEMORY_MAP_ROWS_ALL / map->count : most;
    }
    bytes /= memory_map_unit(map);
    rows = rows < most ? rows : most;
    return rows < bytes ? rows : bytes;
}

int memory_map_rows(struct memory_map *map)
{
    double all = 0;

    for (uint32_t i = 0; i < map->count; i++)
        all += share_of(map, &map->bands[i]);
    for (uint32_t i = 0; i < map->count; i++) {
        struct memory_map_band *band = &map->bands[i];

        band->rows = (uint32_t)rows_of(map, band, all);
        band->cells = calloc((size_t)map->bins * band->rows + 1, sizeof band->cells[0]);
        if (band->cells == NULL)
            return -ENOMEM;
    }
    return 0;
}

double memory_map_strength(const struct memory_map *map, const struct memory_map_band *band,
                           const struct memory_map_cell *cell)
{
    double all = (double)memory_map_records(cell), pages;

    if (map->of != MEMORY_MAP_PAGES)
        return map->most > 1 ? log(all + 1) / log((double)map->most + 1) : all != 0;
    pages = (double)(band->end - band->start) / MEMORY_PAGE_BYTES / band->rows;
    all /= pages * map->looks / map->bins;
    return all < 1 ? all : 1;
}

static int read_accesses(struct memory_map *map, struct trace_scan *scan, const char *path)
{
    struct memory_accesses accesses;
    int error;

    memory_accesses_init(&accesses, scan, path, map->wish.jobs);
    error = memory_map_accesses_find(map, &accesses);
    if (error == 0)
        error = memory_map_rows(map);
    if (error == 0)
        error = memory_map_accesses_count(map, &accesses);
    memory_accesses_free(&accesses);
    return error;
}

static int read_of(struct memory_map *map, struct trace_scan *scan, const char *path,
                   const struct memory_map_wish *wish, enum memory_map_of of)
{
    memory_map_free(map);
    *map = (struct memory_map){.wish = *wish, .of = of, .bins = wish->bins};
    return of == MEMORY_MAP_ACCESSES ? read_accesses(map, scan, path)
           : of == MEMORY_MAP_PAGES  ? memory_map_pages(map, scan)
                                     : memory_map_allocations(map, scan);
}

int memory_map_read(struct memory_map *map, struct trace_scan *scan, const char *path,
                    const struct memory_map_wish *wish)
{
    struct trace_head head = {0};
    int error = trace_scan_head(scan, &head);

    *map = (struct memory_map){.wish = *wish};
    if (error == 0 && wish->of == MEMORY_MAP_ACCESSES && !head.accesses)
        error = -ENODATA;
    else if (error == 0 && wish->of != MEMORY_MAP_ANY)
        error = read_of(map, scan, path, wish, wish->of);
    else if (error == 0 && head.accesses)
        error = read_of(map, scan, path, wish, MEMORY_MAP_ACCESSES);
    else if (error == 0) {
        error = read_of(map, scan, path, wish, MEMORY_MAP_PAGES);
        if (error == -ENODATA) {
            error = trace_scan_rewind(scan);
            if (error == 0)
                error = read_of(map, scan, path, wish, MEMORY_MAP_ALLOCATIONS);
        }
    }
    for (uint32_t i = 0; error == 0 && i < map->count; i++)
        for (size_t n = 0; n < (size_t)map->bins * map->bands[i].rows; n++)
            if (memory_map_records(&map->bands[i].cells[n]) > map->most)
                map->most = memory_map_records(&map->bands[i].cells[n]);
    return error == 0 && map->count == 0 ? -ENODATA : error;
}

void memory_map_free(struct memory_map *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        free(map->bands[i].cells);
        free(map->bands[i].live);
        free(map->bands[i].detail);
    }
    free(map->lives);
    memory_free(&map->pages);
    map->lives = NULL;
    map->count = map->life_count = 0;
}
