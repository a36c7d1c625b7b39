/* Keeps load maps as disjoint ranges. */
#include "host/trace/trace_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/search.h"

void trace_ranges_free(struct trace_ranges *maps)
{
    free(maps->ranges);
    *maps = (struct trace_ranges){0};
}

/* Returns the first range that ends after an address. */
static size_t first_behind(const struct trace_ranges *maps, uint64_t address)
{
    size_t i = search_address(maps->ranges, sizeof maps->ranges[0], maps->count, address);

    return i != 0 && maps->ranges[i - 1].end > address ? i - 1 : i;
}

static int reserve(struct trace_ranges *maps, size_t count)
{
    struct trace_range *ranges = maps->ranges;

    if (count <= maps->capacity)
        return 0;
    ranges = reallocarray(ranges, count * 2, sizeof *ranges);
    if (ranges == NULL)
        return -ENOMEM;
    maps->ranges = ranges;
    maps->capacity = count * 2;
    return 0;
}

int trace_ranges_add(struct trace_ranges *maps, const struct trace_range *map)
{
    struct trace_range parts[3]; /* what remains on both sides, and the map between */
    size_t first = first_behind(maps, map->start), behind = first, count = 0;
    int error;

    if (map->start >= map->end)
        return 0;
    error = reserve(maps, maps->count + 2);
    if (error != 0)
        return error;
    while (behind < maps->count && maps->ranges[behind].start < map->end)
        behind++;
    if (first < behind && maps->ranges[first].start < map->start) {
        parts[count] = maps->ranges[first];
        parts[count++].end = map->start;
    }
    parts[count++] = *map;
    if (first < behind && maps->ranges[behind - 1].end > map->end) {
        parts[count] = maps->ranges[behind - 1];
        parts[count].file_offset += map->end - parts[count].start;
        parts[count++].start = map->end;
    }
    memmove(maps->ranges + first + count, maps->ranges + behind,
            (maps->count - behind) * sizeof maps->ranges[0]);
    memcpy(maps->ranges + first, parts, count * sizeof parts[0]);
    maps->count = maps->count - (behind - first) + count;
    return 0;
}

const struct trace_range *trace_ranges_find(const struct trace_ranges *maps, uint64_t address)
{
    size_t i = first_behind(maps, address);

    if (i == maps->count || maps->ranges[i].start > address)
        return NULL;
    return &maps->ranges[i];
}
