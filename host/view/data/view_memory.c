/* Puts maps of memory into the page's data. */
#include "host/view/data/view_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/json.h"
#include "host/trace/trace_looks.h"
#include "host/view/data/view_pages.h"

#define SHARES 255 /* of what is allocated of a cell: the whole */

static bool has(const struct trace_info *info, enum memory_map_of of)
{
    switch (of) {
    case MEMORY_MAP_ACCESSES:
        return info->has_accesses;
    case MEMORY_MAP_PAGES:
        return trace_looks_interval(info) != 0;
    default:
        return memory_heap_any(info);
    }
}

static int read_map(struct memory_map **map, const char *path, const struct trace_scan *scan,
                    enum memory_map_of of)
{
    struct memory_map_wish wish = memory_map_fine;
    struct trace_scan own;
    int error = trace_scan_again(&own, scan);

    if (error != 0)
        return error;
    wish.of = of;
    *map = calloc(1, sizeof **map);
    error = *map != NULL ? memory_map_read(*map, &own, path, &wish) : -ENOMEM;
    if (error != 0 && *map != NULL) {
        memory_map_free(*map);
        free(*map);
        *map = NULL;
    }
    trace_scan_close(&own);
    return error == -ENODATA ? 0 : error;
}

int view_memory_read(struct view_memory *memory, const char *path, struct trace_scan *scan,
                     const struct trace_info *info)
{
    int error = 0;

    for (enum memory_map_of of = MEMORY_MAP_ACCESSES; of < MEMORY_MAP_OFS && error == 0; of++)
        if (has(info, of))
            error = read_map(&memory->maps[of], path, scan, of);
    if (error == 0 && memory->maps[MEMORY_MAP_ACCESSES] != NULL) {
        memory_accesses_init(&memory->accesses, scan, path, 1);
        error = memory_accesses_begin(&memory->accesses, &memory->cursor);
    }
    return error;
}

void view_memory_run(struct view_memory *memory, const struct trace_samples *samples)
{
    if (memory->maps[MEMORY_MAP_ACCESSES] != NULL && samples->accesses != NULL)
        memory_names_at(&memory->cursor, samples->slots[0].tid, samples->slots[0].time);
}

uint32_t view_memory_object(struct view_memory *memory, const struct trace_samples *samples,
                            uint32_t n, int *error)
{
    const struct memory_map *map = memory->maps[MEMORY_MAP_ACCESSES];
    uint64_t time = samples->slots[n].time;

    if (map == NULL || samples->accesses == NULL || samples->accesses[n].address == 0)
        return MEMORY_MAP_BANDS;
    *error = memory_accesses_advance(&memory->accesses, time);
    if (*error != 0)
        return MEMORY_MAP_BANDS;
    return memory_map_band_of(
        map, memory_names_find(&memory->cursor, samples->accesses[n].address, time).key);
}

void view_memory_free(struct view_memory *memory)
{
    for (uint32_t of = 0; of < MEMORY_MAP_OFS; of++) {
        if (memory->maps[of] != NULL)
            memory_map_free(memory->maps[of]);
        free(memory->maps[of]);
    }
    memory_accesses_free(&memory->accesses);
    *memory = (struct view_memory){0};
}

/* A number that JSON's readers may round. */
static json_t *address_json(uint64_t address)
{
    char text[24];

    snprintf(text, sizeof text, "0x%lx", address);
    return json_string(text);
}

static uint32_t cells_of(const struct memory_map *map, const struct memory_map_band *band)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < map->bins * band->rows; n++)
        count += !memory_map_is_empty(band, n);
    return count;
}

static json_t *detail_json(const char *detail)
{
    char line[MEMORY_MAP_LINE];
    json_t *list = json_array();

    while (memory_map_line(&detail, line))
        json_array_append_new(list, json_text(line));
    return list;
}

static json_t *band_json(const struct memory_map *map, const struct memory_map_band *band)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     json_text(band->name), "detail", detail_json(band->detail), "pid",
                     json_number(band->pid), "start", address_json(band->start), "end",
                     address_json(band->end), "rows", json_number(band->rows), "reads",
                     json_number(band->reads), "writes", json_number(band->writes), "objects",
                     json_number(band->objects), "bytes", json_number(band->bytes), "cells",
                     json_number(cells_of(map, band)));
}

static uint64_t cell_field(const struct memory_map_band *band, uint32_t n, uint32_t field)
{
    const struct memory_map_cell *cell = &band->cells[n];
    double live = band->live != NULL ? band->live[n] : 0;
    const uint64_t fields[] = {n,
                               cell->reads,
                               cell->writes,
                               cell->timed,
                               cell->latency,
                               cell->tid != MEMORY_MAP_SEVERAL ? cell->tid + 1ull : 0,
                               live > 0 ? 1 + (uint64_t)(live * (SHARES - 1)) : 0};

    return fields[field];
}

/* The cells of all bands in which there is something; place: bin * rows + row. */
static void pack_cells(const struct memory_map *map, struct view_columns *columns)
{
    static const char *const names[] = {"place",   "reads", "writes", "timed",
                                        "latency", "tid",   "live"};
    char name[40];

    for (uint32_t field = 0; field < sizeof names / sizeof names[0]; field++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < map->count; i++) {
            const struct memory_map_band *band = &map->bands[i];

            for (uint32_t n = 0; n < map->bins * band->rows; n++)
                if (!memory_map_is_empty(band, n))
                    view_columns_put(columns, cell_field(band, n, field));
        }
        snprintf(name, sizeof name, "%s.%s", memory_map_of_names[map->of], names[field]);
        view_columns_end(columns, name);
    }
}

/* length: 0 for what was never freed. */
static uint64_t life_field(const struct memory_map_life *life, uint32_t field)
{
    uint64_t length = life->to_ns > life->from_ns ? life->to_ns - life->from_ns : 1;
    const uint64_t fields[] = {life->band,
                               life->address,
                               life->bytes,
                               life->from_ns,
                               life->to_ns != UINT64_MAX ? length : 0,
                               life->tid};

    return fields[field];
}

static void pack_lives(const struct memory_map *map, struct view_columns *columns)
{
    static const char *const names[] = {"band", "address", "bytes", "from", "length", "tid"};
    char name[40];

    for (uint32_t field = 0; field < sizeof names / sizeof names[0]; field++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < map->life_count; i++)
            view_columns_put(columns, life_field(&map->lives[i], field));
        snprintf(name, sizeof name, "%s.life.%s", memory_map_of_names[map->of], names[field]);
        view_columns_end(columns, name);
    }
}

void view_memory_pack(const struct view_memory *memory, struct view_columns *columns)
{
    json_t *list = json_array();

    for (uint32_t of = 0; of < MEMORY_MAP_OFS; of++) {
        const struct memory_map *map = memory->maps[of];
        json_t *bands;

        if (map == NULL)
            continue;
        bands = json_array();
        for (uint32_t i = 0; i < map->count; i++)
            json_array_append_new(bands, band_json(map, &map->bands[i]));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "of",
                            memory_map_of_names[of], "unit", json_number(memory_map_unit(map)),
                            "from", json_number(map->from_ns), "to", json_number(map->to_ns),
                            "bins", json_number(map->bins), "looks", json_number(map->looks),
                            "most", json_number(map->most), "left_out", json_number(map->left_out),
                            "lives_left_out", json_number(map->lives_left_out), "bands", bands));
        if (map->of == MEMORY_MAP_PAGES)
            view_pages_pack(map, columns);
        pack_cells(map, columns);
        pack_lives(map, columns);
    }
    view_columns_set(columns, "maps", list);
}
