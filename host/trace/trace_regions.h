/* The regions that a program named (HR_REC_REGION), gathered from a trace's END chunk.
 *
 * The figures may be a hostile program's own: what contradicts itself is kept, shown as it is and
 * counted, so that hr check can say so.  Names are raw (escape them before they reach a terminal).
 */
#ifndef HOST_TRACE_TRACE_REGIONS_H
#define HOST_TRACE_TRACE_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace_reader.h"

#define TRACE_REGIONS_MAX 1024u
#define TRACE_REGION_FIGURES (HR_EVENTS_MAX + 1) /* the events', then time's */
#define TRACE_REGION_TIME HR_EVENTS_MAX /* number of the figures that are ticks */

struct trace_region_figures { /* what one event counted in one region */
    uint64_t passes; /* 0: the trace has no such record, or the region was never left */
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint64_t *buckets; /* bucket_count of them, as in HR_REC_REGION; owned */
    uint16_t bucket_count;
    uint16_t records; /* that were added up here; saturates */
};

struct trace_region {
    char *name; /* owned */
    uint16_t threads;
    struct trace_region_figures figures[TRACE_REGION_FIGURES];
};

struct trace_regions {
    struct trace_region *all; /* owned; in the order of the trace */
    size_t count;
    uint64_t ignored; /* records of regions beyond TRACE_REGIONS_MAX */
    uint64_t repeated; /* records that were added to one of the same region and event */
    uint64_t
        contradictions; /* records whose histogram does not have `passes` passes, or min > max */
};

void trace_regions_free(struct trace_regions *regions);

/* Takes an HR_REC_REGION.  TRACE_OK, or TRACE_BAD_RECORD when its lengths or its event are wrong.
 * *error is set to -ENOMEM when memory ran out, otherwise left alone.
 */
enum trace_status trace_regions_take(struct trace_regions *regions,
                                     const struct trace_record *record, int *error);

/* How often the region was passed through: the most of any of its figures. */
uint64_t trace_region_passes(const struct trace_region *region);

/* The value that a share (0 to 1) of the passes do not exceed: exact below 8, else interpolated in
 * its bucket, so within 12 % for values spread evenly there; never outside min .. max.
 */
uint64_t trace_region_percentile(const struct trace_region_figures *f, double share);

/* Which bucket counts a value, and the least value of a bucket. */
uint32_t trace_region_bucket(uint64_t value);
uint64_t trace_region_bucket_start(uint32_t bucket);

#endif
