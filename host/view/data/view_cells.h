/* How many of each kind of thing fell into each of equal pieces of time.
 *
 * The pieces become twice as long when a time is beyond the last one.  Memory is bounded: kinds
 * beyond the bound are one.
 */
#pragma once

#include "host/view/data/view_columns.h"

#define VIEW_CELLS 1024u
#define VIEW_CELLS_KINDS 64u
#define VIEW_CELLS_OTHERS UINT64_MAX /* the last kind: those that found no place */

struct view_cells { /* all zero at first */
    uint64_t kinds[VIEW_CELLS_KINDS];
    uint64_t *counts; /* VIEW_CELLS of each kind; owned */
    uint32_t kind_count;
    unsigned shift; /* a piece is 2^shift long */
};

#define VIEW_CELLS_TIME_MASK ((1ull << 60) - 1)

/* A time is within VIEW_CELLS_TIME_MASK.  0 or -ENOMEM. */
int view_cells_add(struct view_cells *cells, uint64_t time, uint64_t kind, uint64_t count);
void view_cells_free(struct view_cells *cells);

/* Puts the counts of all kinds, one after the other, into a column; the facts NAME.kinds and
 * NAME.ticks, a piece's length, say what they are. */
void view_cells_pack(const struct view_cells *cells, const char *name,
                     struct view_columns *columns);

/* Makes pieces of 2^shift long enough for a time.  Returns by how much the shift rose: as much as
 * view_cells_fold is to fold. */
unsigned view_cells_reach(unsigned *shift, uint64_t time);
void view_cells_fold(uint64_t *cells, unsigned by);
