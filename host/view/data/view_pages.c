/* Puts looks and page faults into columns. */
#include "host/view/data/view_pages.h"

#include <errno.h>

#include "host/base/json.h"
#include "host/view/data/view_cells.h"

#define LOOKS_MAX 2048u /* more become one: their mean */
#define TOUCHERS 8u /* functions that are told apart: those with most faults */

/* A figure of so many neighbouring looks each, as their mean. */
static void put_looks(const struct memory_map *map, uint32_t together, uint32_t field,
                      const char *name, struct view_columns *columns)
{
    const struct memory *m = &map->pages;

    view_columns_begin(columns);
    for (uint32_t n = m->look_count - map->looks; n < m->look_count; n += together) {
        uint32_t count = n + together < m->look_count ? together : m->look_count - n;
        uint64_t sum = 0;

        for (uint32_t i = n; i < n + count; i++) {
            const struct memory_look *look = &m->looks[i];
            const uint64_t fields[] = {look->set[0], look->written, look->fresh};

            sum += fields[field];
        }
        view_columns_put(columns, (sum + count / 2) / count);
    }
    view_columns_end(columns, name);
}

/* The functions with most page faults, those with most of them first.  Returns how many. */
static uint32_t most_faults(const struct memory *m, uint32_t top[TOUCHERS])
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < m->toucher_count; t++) {
        uint32_t place = count;

        while (place != 0 && m->touchers[top[place - 1]].faults < m->touchers[t].faults)
            place--;
        if (place == TOUCHERS)
            continue;
        count += count < TOUCHERS;
        for (uint32_t i = count - 1; i > place; i--)
            top[i] = top[i - 1];
        top[place] = t;
    }
    return count;
}

/* The kind of a fault is the place of its function among those with most. */
static int count_faults(const struct memory *m, const uint32_t *top, uint32_t count,
                        struct view_cells *cells)
{
    int error = 0;

    for (size_t i = 0; i < m->fault_count && error == 0; i++) {
        uint64_t kind = VIEW_CELLS_OTHERS;

        for (uint32_t n = 0; n < count; n++)
            if (m->faults[i].toucher == top[n])
                kind = n;
        error = view_cells_add(cells, m->faults[i].ns & VIEW_CELLS_TIME_MASK, kind, 1);
    }
    return error;
}

void view_pages_pack(const struct memory_map *map, struct view_columns *columns)
{
    const struct memory *m = &map->pages;
    uint32_t together = (map->looks + LOOKS_MAX - 1) / LOOKS_MAX, top[TOUCHERS], count;
    struct view_cells cells = {0};
    json_t *names = json_array();

    put_looks(map, together, 0, "looks.set", columns);
    put_looks(map, together, 1, "looks.written", columns);
    put_looks(map, together, 2, "looks.fresh", columns);
    view_columns_set(columns, "looks_from", json_number(map->from_ns));
    view_columns_set(columns, "looks_ns", json_number(m->interval_ns * together));
    count = most_faults(m, top);
    if (count_faults(m, top, count, &cells) != 0)
        columns->error = -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(names, json_pack("[o, o]", json_text(m->touchers[top[i]].name),
                                               json_text(m->touchers[top[i]].object)));
    view_columns_set(columns, "faults.names", names);
    view_cells_pack(&cells, "faults", columns);
    view_cells_free(&cells);
}
