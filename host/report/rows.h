/* The rows of a report: what was counted in each group and place, itself and with what it called.
 */
#ifndef HOST_REPORT_ROWS_H
#define HOST_REPORT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

#define ROWS_MAX 65536u /* further ones are summed up in one */

struct rows_count {
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX];
};

struct row {
    uint32_t group; /* of host/report/groups.h */
    uint32_t place; /* of host/report/places.h */
    struct rows_count self;
    struct rows_count total; /* all zero where stacks are not counted */
};

struct rows {
    struct row *all; /* owned; those in use are zero but for what was counted */
    uint32_t *index; /* hash table of numbers + 1, 0: free; owned */
    uint32_t *stamps; /* of each row: of the last one that counted in total; owned */
    uint32_t count;
    uint32_t capacity;
    bool full; /* one found no room: it is in the last row, which has no group and no place */
};

/* 0 or -ENOMEM. */
int rows_init(struct rows *rows);
void rows_free(struct rows *rows);

/* The number of a row in `all`. */
uint32_t rows_number(struct rows *rows, uint32_t group, uint32_t place);

/* The row, which stays where it is until the next call. */
struct row *rows_find(struct rows *rows, uint32_t group, uint32_t place);

void rows_add(struct rows_count *count, uint64_t samples, const uint64_t *sums, uint32_t events);

/* Samples (event < 0) or what an event counted. */
static inline uint64_t rows_weight(const struct rows_count *count, int event)
{
    return event < 0 ? count->samples : count->sums[event];
}

/* Sorts the rows, largest first, equal ones by samples and then as `before` says.  rows_number no
 * longer finds them.
 */
void rows_sort(struct rows *rows, int event, bool total,
               int (*before)(const struct row *a, const struct row *b, void *context),
               void *context);

#endif
