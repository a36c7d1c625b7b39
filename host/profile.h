/* Samples and event increments by function: what `hr report` shows.
 *
 * Counts by instruction pointer first, because that is fast, and folds into functions (or 4-KiB
 * ranges where there are no symbols) at the end and whenever the table is nearly full.  Memory is
 * bounded whatever the trace holds.  Never prints.
 */
#ifndef HOST_PROFILE_H
#define HOST_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/symbols.h"
#include "host/trace_scan.h"

#define PROFILE_ROWS_MAX 65536u /* further functions and ranges are summed up in one row */

struct profile_row {
    const char *name; /* of the function; NULL: the range start .. end-1; owned by the symbols */
    bool kernel; /* the name is that of a function of Microtome's kernel */
    const char *object; /* NULL if unknown; owned by the symbols */
    uint64_t start;
    uint64_t end; /* 0: the row that sums up what found no place */
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX];
};

struct profile {
    uint64_t *slots; /* ip, samples, sums[event_count] each; samples 0: free */
    uint32_t event_count;
    uint32_t used;
    struct profile_row *rows;
    uint32_t *row_index; /* hash table of row numbers + 1 */
    uint32_t row_count;
    struct profile_row rest;
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX];
};

/* 0 or -ENOMEM. */
int profile_init(struct profile *profile);
void profile_free(struct profile *profile);

/* True when profile_fold must be called before the next profile_add. */
bool profile_full(const struct profile *profile);

/* Counts a run of samples: what the counters rose by since the sample before goes to each, but for
 * a sample after a pause: what was counted in the pause belongs nowhere.
 */
void profile_add(struct profile *profile, const struct trace_samples *samples);

/* Moves what was counted by address into rows. */
void profile_fold(struct profile *profile, struct symbols *symbols);

/* After the last fold: sorts the rows, largest first, by samples (event < 0) or by an event. */
void profile_sort(struct profile *profile, int event);

#endif
