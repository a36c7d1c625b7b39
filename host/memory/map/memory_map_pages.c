/* Makes a map of the pages that looks at the page tables saw. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/memory/map/memory_map_parts.h"
#include "lib/trace/trace_pages.h"

/* Who touched most of it first. */
static char *detail_of(const struct memory *pages, const struct memory_range *range)
{
    char *text = NULL;

    if (range->toucher != MEMORY_NO_TOUCHER &&
        asprintf(&text, "touched first by %s", pages->touchers[range->toucher].name) < 0)
        return NULL;
    return text;
}

/* The pages of a range that are in its band.  `page`: the first page of the range; the first one of
 * the next range after it. */
static uint64_t weight_of(const struct memory_page **page, const struct memory_range *range,
                          const struct memory_map_band *band)
{
    uint64_t weight = 0;

    for (uint64_t left = range->touched; left != 0; (*page)++) {
        uint64_t end = (*page)->address + (uint64_t)(*page)->pages * MEMORY_PAGE_BYTES;
        uint64_t from = (*page)->address > band->start ? (*page)->address : band->start;
        uint64_t to = end < band->end ? end : band->end;

        weight += from < to ? (to - from) / MEMORY_PAGE_BYTES : 0;
        left -= (*page)->pages;
    }
    return weight;
}

static void choose(struct memory_map *map)
{
    const struct memory *pages = &map->pages;
    const struct memory_page *page = pages->pages;

    for (size_t i = 0; i < pages->range_count; i++) {
        const struct memory_range *r = &pages->ranges[i];
        struct memory_map_band band = {
            .first_key = i, .start = r->start, .end = r->end, .pid = r->pid};

        if (band.start < map->wish.from_address)
            band.start = map->wish.from_address & -(uint64_t)MEMORY_PAGE_BYTES;
        if (band.end > map->wish.to_address)
            band.end = (map->wish.to_address | (MEMORY_PAGE_BYTES - 1)) + 1;
        band.weight = weight_of(&page, r, &band);
        if (band.weight == 0)
            continue;
        map->weight += band.weight;
        memory_map_offer(map, &band);
    }
    memory_map_sort(map);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct memory_range *r = &pages->ranges[map->bands[i].first_key];

        snprintf(map->bands[i].name, sizeof map->bands[i].name, "%s", r->label);
        map->bands[i].detail = detail_of(pages, r);
    }
}

static void add(uint32_t *to, uint64_t pages)
{
    *to = pages < UINT32_MAX - *to ? *to + (uint32_t)pages : UINT32_MAX;
}

/* The row of a page of the band, as memory_map_row_start() has them. */
static uint32_t row_of(const struct memory_map_band *band, uint64_t address)
{
    uint64_t page = (address - band->start) / MEMORY_PAGE_BYTES;
    uint64_t pages = (band->end - band->start) / MEMORY_PAGE_BYTES;

    return (uint32_t)(((page + 1) * (unsigned __int128)band->rows - 1) / pages);
}

/* Adds pages of the band, from an address to before another one. */
static void add_pages(const struct memory_map *map, struct memory_map_band *band, uint32_t bin,
                      uint64_t from, uint64_t to, bool written)
{
    uint64_t next;

    *(written ? &band->writes : &band->reads) += (to - from) / MEMORY_PAGE_BYTES;
    for (uint32_t row = row_of(band, from); from < to; from = next, row++) {
        struct memory_map_cell *cell = &band->cells[(size_t)bin * band->rows + row];

        next = memory_map_row_start(map, band, row + 1);
        next = next < to ? next : to;
        add(written ? &cell->writes : &cell->reads, (next - from) / MEMORY_PAGE_BYTES);
    }
}

/* `seen`: what of the process this look has counted already ends there. */
static void add_run(struct memory_map *map, const struct memory_run *run, uint64_t seen)
{
    uint32_t look = run->look - (map->pages.look_count - map->looks);
    uint64_t end = run->address + run->pages * MEMORY_PAGE_BYTES;
    uint32_t bin = (uint32_t)((uint64_t)look * map->bins / map->looks);

    for (uint32_t i = 0; i < map->count; i++) {
        struct memory_map_band *band = &map->bands[i];
        uint64_t from = run->address > band->start ? run->address : band->start;
        uint64_t to = end < band->end ? end : band->end;

        from = from > seen ? from : seen;
        if (band->pid == run->pid && from < to)
            add_pages(map, band, bin, from, to, run->flags & TRACE_PAGES_WRITTEN);
    }
}

/* Runs are in the order of looks, processes and addresses.  A page that a look saw twice, the last
 * time when the process ended, counts once. */
static void add_runs(struct memory_map *map)
{
    const struct memory_run *before = NULL;
    uint64_t seen = 0;

    for (size_t i = 0; i < map->pages.run_count; i++) {
        const struct memory_run *run = &map->pages.runs[i];
        uint64_t end = run->address + run->pages * MEMORY_PAGE_BYTES;

        if (before != NULL && (before->look != run->look || before->pid != run->pid))
            seen = 0;
        add_run(map, run, seen);
        seen = end > seen ? end : seen;
        before = run;
    }
}

/* From the selection's first look, or that of the first touch, to the last one. */
static void set_time(struct memory_map *map)
{
    const struct memory *pages = &map->pages;
    uint64_t first = pages->selection->from_ns / pages->interval_ns;

    first = first < pages->runs[0].look ? first : pages->runs[0].look;
    map->looks = pages->look_count - (uint32_t)first;
    map->bins = map->bins < map->looks ? map->bins : map->looks;
    map->from_ns = first * pages->interval_ns;
    map->to_ns = memory_look_ns(pages, pages->look_count - 1);
}

int memory_map_pages(struct memory_map *map, struct trace_scan *scan)
{
    struct trace_visitor visitor = memory_visitor;
    struct symbols *symbols = NULL;
    int error = memory_init(&map->pages, scan);

    visitor.context = &map->pages;
    if (error == 0)
        error = trace_scan_run(scan, &visitor);
    if (error == 0)
        error = symbols_open(&symbols, &scan->info, scan->symbols);
    if (error == 0)
        error = memory_finish(&map->pages, symbols);
    symbols_close(symbols);
    if (error != 0)
        return error;
    set_time(map);
    choose(map);
    if (map->count == 0)
        return -ENODATA;
    error = memory_map_rows(map);
    if (error == 0)
        add_runs(map);
    return error;
}
