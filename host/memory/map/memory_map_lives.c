/* When objects of the heap were live: the largest ones, and of all of them the share of each cell.
 *
 * An object is a rectangle of time and address.  What it adds to the cells rises and falls at its
 * edges alone, so it costs the same however many cells it covers: the cells are sums of that. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/memory/map/memory_map_parts.h"

#define EDGES 4u
#define NOISE 1e-6 /* of sums of many shares */

struct edge {
    uint32_t at;
    double by;
};

/* Where the share of cells that lies between two places (in cells) rises and falls. */
static void edges_of(double from, double to, struct edge edges[EDGES])
{
    double first = floor(from), last = floor(to);

    edges[0] = (struct edge){(uint32_t)first, 1 - (from - first)};
    edges[1] = (struct edge){(uint32_t)first + 1, from - first};
    edges[2] = (struct edge){(uint32_t)last, to - last - 1};
    edges[3] = (struct edge){(uint32_t)last + 1, last - to};
}

int memory_map_lives_begin(struct memory_map *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        struct memory_map_band *band = &map->bands[i];

        band->live = calloc((map->bins + 2ul) * (band->rows + 2ul), sizeof band->live[0]);
        if (band->live == NULL)
            return -ENOMEM;
    }
    map->lives = calloc(map->wish.lives + 1ul, sizeof map->lives[0]);
    return map->lives != NULL ? 0 : -ENOMEM;
}

/* Keeps those with the largest areas, in a heap whose smallest is the first. */
static void keep(struct memory_map *map, const struct memory_map_life *life)
{
    struct memory_map_life *all = map->lives;
    uint32_t at = 0, next;

    if (map->life_count < map->wish.lives) {
        for (at = map->life_count++; at != 0 && all[(at - 1) / 2].area > life->area;
             at = (at - 1) / 2)
            all[at] = all[(at - 1) / 2];
        all[at] = *life;
        return;
    }
    map->lives_left_out++;
    if (map->life_count == 0 || life->area <= all[0].area)
        return;
    while ((next = 2 * at + 1) < map->life_count) {
        next += next + 1 < map->life_count && all[next + 1].area < all[next].area;
        if (all[next].area >= life->area)
            break;
        all[at] = all[next];
        at = next;
    }
    all[at] = *life;
}

int memory_map_lives_add(struct memory_map *map, uint32_t n, const struct trace_info *info,
                         const struct memory_object *object, uint64_t time)
{
    struct memory_map_band *band = &map->bands[n];
    struct memory_map_life life = {
        .address = object->address,
        .bytes = object->bytes,
        .from_ns = trace_info_time_ns(info, object->time),
        .to_ns = time != UINT64_MAX ? trace_info_time_ns(info, time) : UINT64_MAX,
        .band = n,
        .tid = object->tid,
    };
    uint64_t from = life.from_ns > map->from_ns ? life.from_ns : map->from_ns;
    uint64_t to = life.to_ns < map->to_ns ? life.to_ns : map->to_ns;
    uint64_t low = life.address > band->start ? life.address : band->start;
    uint64_t high = life.bytes < UINT64_MAX - life.address ? life.address + life.bytes : UINT64_MAX;
    double bin_ns = (double)(map->to_ns - map->from_ns) / map->bins;
    double row_bytes = (double)(band->end - band->start) / band->rows;
    struct edge times[EDGES], rows[EDGES];

    band->objects++;
    band->bytes += life.bytes;
    high = high < band->end ? high : band->end;
    if (from >= to || low >= high)
        return 0;
    life.area = (double)(to - from) * (double)(high - low);
    keep(map, &life);
    edges_of((double)(from - map->from_ns) / bin_ns, (double)(to - map->from_ns) / bin_ns, times);
    edges_of((double)(low - band->start) / row_bytes, (double)(high - band->start) / row_bytes,
             rows);
    for (uint32_t t = 0; t < EDGES; t++)
        for (uint32_t r = 0; r < EDGES; r++)
            if (times[t].at <= map->bins + 1 && rows[r].at <= band->rows + 1)
                band->live[(size_t)times[t].at * (band->rows + 2) + rows[r].at] +=
                    times[t].by * rows[r].by;
    return 0;
}

static int by_band(const void *a, const void *b)
{
    const struct memory_map_life *x = a, *y = b;

    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Adds up, first along the addresses, then along the time, and closes the gaps of the edges. */
static void add_up(struct memory_map_band *band, uint32_t bins)
{
    uint32_t stride = band->rows + 2;

    for (uint32_t bin = 0; bin < bins; bin++)
        for (uint32_t row = 1; row < band->rows; row++)
            band->live[(size_t)bin * stride + row] += band->live[(size_t)bin * stride + row - 1];
    for (uint32_t bin = 1; bin < bins; bin++)
        for (uint32_t row = 0; row < band->rows; row++)
            band->live[(size_t)bin * stride + row] += band->live[((size_t)bin - 1) * stride + row];
    for (uint32_t bin = 0; bin < bins; bin++)
        for (uint32_t row = 0; row < band->rows; row++) {
            double share = band->live[(size_t)bin * stride + row];

            band->live[(size_t)bin * band->rows + row] = share < NOISE ? 0 : share < 1 ? share : 1;
        }
}

void memory_map_lives_end(struct memory_map *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (map->bands[i].live != NULL)
            add_up(&map->bands[i], map->bins);
    if (map->life_count != 0)
        qsort(map->lives, map->life_count, sizeof map->lives[0], by_band);
}
