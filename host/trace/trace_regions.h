/* The regions that a program named (HR_REC_REGION), from a trace's END chunk.
 *
 * A hostile program may have written the figures: contradictory ones are kept, shown as they are
 * and counted, so that hr check can report them.  Names are raw (escape them before printing to a
 * terminal).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

#define TRACE_REGIONS_MAX 1024u
#define TRACE_REGION_FIGURES (HR_EVENTS_MAX + 1) /* the figures of the events, then of time */
#define TRACE_REGION_TIME HR_EVENTS_MAX /* index of the figures in ticks */

struct trace_region_figures { /* what one event counted in one region */
    uint64_t passes; /* 0: there is no record, or the region was never left */
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint64_t *buckets; /* bucket_count of them, as in HR_REC_REGION; owned */
    uint16_t bucket_count;
    uint16_t records; /* number of records added here; saturates */
};

struct trace_region {
    char *name; /* owned */
    uint16_t threads;
    struct trace_region_figures figures[TRACE_REGION_FIGURES];
};

struct trace_regions {
    struct trace_region *all; /* in the order of the trace; owned */
    size_t count;
    uint64_t ignored; /* records of regions beyond TRACE_REGIONS_MAX */
    uint64_t repeated; /* records added to one of the same region and event */
    uint64_t contradictions; /* records with `passes` unlike the histogram, or min > max */
};

void trace_regions_free(struct trace_regions *regions);

/* Takes an HR_REC_REGION.  Returns TRACE_OK, or TRACE_BAD_RECORD if its lengths or its event are
 * wrong.  Sets *error to -ENOMEM if memory runs out, and otherwise leaves it unchanged. */
enum trace_status trace_regions_take(struct trace_regions *regions,
                                     const struct trace_record *record, int *error);

/* Returns how often the region was passed: the maximum over its figures. */
uint64_t trace_region_passes(const struct trace_region *region);

/* Returns the value that a share (0 to 1) of the passes do not exceed.  It is exact below 8, else
 * interpolated in its bucket: within 12 % for values spread evenly there, never outside min .. max.
 */
uint64_t trace_region_percentile(const struct trace_region_figures *f, double share);

/* Returns the least value that a bucket counts. */
uint64_t trace_region_bucket_start(uint32_t bucket);
