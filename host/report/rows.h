/* The rows of a report: counts by group and place, of the place itself and with its callees. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

#define ROWS_MAX 65536u /* further ones are added up in one row */

struct rows_count {
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX];
};

struct row {
    uint32_t group; /* number in host/report/groups.h */
    uint32_t place; /* number in host/report/places.h */
    struct rows_count self;
    struct rows_count total; /* all zero unless stacks are counted */
};

struct rows {
    struct row *all; /* new rows have zero counts; owned */
    uint32_t *index; /* hash table of numbers + 1, 0: free; owned */
    uint32_t *stamps; /* for each row, the last stamp that it counted in total; owned */
    uint32_t count;
    bool full; /* a row did not fit; the last row, without group and place, stands for it */
};

/* Returns 0 or -ENOMEM. */
int rows_init(struct rows *rows);
void rows_free(struct rows *rows);

/* Returns the index of a row in `all`. */
uint32_t rows_number(struct rows *rows, uint32_t group, uint32_t place);

void rows_add(struct rows_count *count, uint64_t samples, const uint64_t *sums, uint32_t events);

/* Returns the samples (event < 0) or the count of an event. */
static inline uint64_t rows_weight(const struct rows_count *count, int event)
{
    return event < 0 ? count->samples : count->sums[event];
}

/* Sorts the rows, largest first, equal ones by samples and then as `before` says.  rows_number no
 * longer finds them. */
void rows_sort(struct rows *rows, int event, bool total,
               int (*before)(const struct row *a, const struct row *b, void *context),
               void *context);
