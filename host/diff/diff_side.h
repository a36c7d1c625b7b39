/* One of the two traces that `hr diff` compares: its totals, and what was counted in each place.
 *
 * Places have names and no addresses, which move from build to build.  Memory is bounded.  Never
 * prints.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/scan/object_share.h"

#define DIFF_ROWS_MAX 65536u /* further places are one */

enum diff_by { DIFF_BY_FUNCTION, DIFF_BY_LIBRARY, DIFF_BY_LINE };

struct diff_counts {
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX];
};

struct diff_row {
    char *name; /* of the function or line; "" of a library; raw; owned */
    char *object; /* raw; owned */
    struct diff_counts counts;
    uint64_t runs; /* of samples one after another in it: see diff_chance */
};

struct diff_side {
    const char *path; /* of the trace; not owned */
    struct trace_scan scan; /* open until diff_side_free: its info is looked at */
    struct symbols *symbols;
    struct object_share share;
    enum diff_by by;
    const char *program; /* file name of the program itself, NULL if unknown */
    const char *alias; /* what its places' object is called: another build's name; NULL: its own */
    struct diff_row *rows; /* in the order of names after diff_side_read; owned */
    uint32_t row_count;
    uint32_t *row_index; /* hash table of numbers + 1; owned */
    pthread_mutex_t lock; /* of rows and symbols, while several count */
    bool alone; /* one worker walks: it decides which places are one when there are too many */
    struct diff_counts all; /* up to the last samples */
    bool whole; /* totals are the program's, not only up to the last samples */
};

/* Reads a trace.  The selection becomes the side's.  `alias` may be NULL, and else must outlive it.
 * 0 or -errno; diff_side_free after either. */
int diff_side_read(struct diff_side *side, const char *path, struct selection *selection,
                   const struct symbols_options *symbols, unsigned int jobs, enum diff_by by,
                   const char *alias);
void diff_side_free(struct diff_side *side);

/* What an event counted in all: of the program, or of what is selected. */
static inline uint64_t diff_side_total(const struct diff_side *side, uint32_t event)
{
    return side->whole ? side->scan.info.events[event].total : side->all.sums[event];
}

/* The order of rows: by name, then by object. */
int diff_side_compare(const struct diff_row *a, const struct diff_row *b);
