/* Counts by piece of time and kind. */
#include "host/view/data/view_cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void view_cells_fold(uint64_t *cells, unsigned by)
{
    if (by > 10)
        by = 10; /* all becomes one */
    for (uint32_t i = 1; by != 0 && i < VIEW_CELLS; i++) {
        uint64_t value = cells[i];

        cells[i] = 0;
        cells[i >> by] += value;
    }
}

unsigned view_cells_reach(unsigned *shift, uint64_t time)
{
    unsigned by = 0;

    while (time >> *shift >> by >= VIEW_CELLS)
        by++;
    *shift += by;
    return by;
}

static uint32_t place(struct view_cells *cells, uint64_t kind)
{
    uint32_t i;

    for (i = 0; i < cells->kind_count; i++)
        if (cells->kinds[i] == kind)
            return i;
    if (i == VIEW_CELLS_KINDS)
        return i - 1; /* VIEW_CELLS_OTHERS */
    cells->kinds[i] = i < VIEW_CELLS_KINDS - 1 ? kind : VIEW_CELLS_OTHERS;
    return cells->kind_count++;
}

int view_cells_add(struct view_cells *cells, uint64_t time, uint64_t kind, uint64_t count)
{
    unsigned by = view_cells_reach(&cells->shift, time);

    if (cells->counts == NULL)
        cells->counts = calloc((size_t)VIEW_CELLS_KINDS * VIEW_CELLS, sizeof cells->counts[0]);
    if (cells->counts == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; by != 0 && i < cells->kind_count; i++)
        view_cells_fold(cells->counts + (size_t)i * VIEW_CELLS, by);
    cells->counts[(size_t)place(cells, kind) * VIEW_CELLS + (time >> cells->shift)] += count;
    return 0;
}

void view_cells_free(struct view_cells *cells)
{
    free(cells->counts);
    memset(cells, 0, sizeof *cells);
}

void view_cells_pack(const struct view_cells *cells, const char *name, struct view_columns *columns)
{
    json_t *kinds = json_array();
    char text[40];

    view_columns_begin(columns);
    for (size_t i = 0; i < (size_t)cells->kind_count * VIEW_CELLS; i++)
        view_columns_put(columns, cells->counts[i]);
    view_columns_end(columns, name);
    for (uint32_t i = 0; i < cells->kind_count; i++)
        json_array_append_new(kinds, cells->kinds[i] != VIEW_CELLS_OTHERS
                                         ? json_integer((json_int_t)(cells->kinds[i] & INT64_MAX))
                                         : json_null());
    snprintf(text, sizeof text, "%s.kinds", name);
    view_columns_set(columns, text, kinds);
    snprintf(text, sizeof text, "%s.ticks", name);
    view_columns_set(columns, text, json_real(ldexp(1, (int)cells->shift)));
}
