/* Gathers the regions of a trace and reads their histograms; every length is checked first. */
#include "host/trace/trace_regions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

#define EXACT_BUCKETS 8u /* below, a bucket is a value; above, an octave has four */

void trace_regions_free(struct trace_regions *regions)
{
    for (size_t i = 0; i < regions->count; i++) {
        for (uint32_t k = 0; k < TRACE_REGION_FIGURES; k++)
            free(regions->all[i].figures[k].buckets);
        free(regions->all[i].name);
    }
    free(regions->all);
    memset(regions, 0, sizeof *regions);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

static bool named(const struct trace_region *region, const char *name, size_t bytes)
{
    return strncmp(region->name, name, bytes) == 0 && region->name[bytes] == 0;
}

/* The records of a region follow each other, so the last region is checked first. */
static struct trace_region *find(const struct trace_regions *regions, const char *name,
                                 size_t bytes)
{
    for (size_t i = regions->count; i-- > 0;)
        if (named(&regions->all[i], name, bytes))
            return &regions->all[i];
    return NULL;
}

/* Returns a new region, or NULL if there are too many or memory runs out. */
static struct trace_region *append(struct trace_regions *regions, const char *name, size_t bytes,
                                   int *error)
{
    struct trace_region *region;

    if (regions->count == TRACE_REGIONS_MAX)
        return NULL;
    if (array_grow(&regions->all, regions->count, sizeof *regions->all) != 0) {
        *error = -ENOMEM;
        return NULL;
    }
    region = &regions->all[regions->count];
    memset(region, 0, sizeof *region);
    region->name = strndup(name, bytes);
    if (region->name == NULL) {
        *error = -ENOMEM;
        return NULL;
    }
    regions->count++;
    return region;
}

/* Adds the histogram in `bytes` (unaligned); returns how many passes it has. */
static uint64_t add_buckets(struct trace_region_figures *f, const uint8_t *bytes, uint16_t count,
                            int *error)
{
    uint64_t passes = 0;

    if (count > f->bucket_count) {
        uint64_t *larger = reallocarray(f->buckets, count, sizeof *larger);

        if (larger == NULL) {
            *error = -ENOMEM;
            return 0;
        }
        memset(larger + f->bucket_count, 0, (count - f->bucket_count) * sizeof *larger);
        f->buckets = larger;
        f->bucket_count = count;
    }
    for (uint16_t i = 0; i < count; i++) {
        uint64_t bucket;

        memcpy(&bucket, bytes + i * sizeof bucket, sizeof bucket);
        f->buckets[i] = add(f->buckets[i], bucket);
        passes = add(passes, bucket);
    }
    return passes;
}

static void add_figures(struct trace_regions *regions, struct trace_region_figures *f,
                        const struct hr_rec_region *body, const uint8_t *buckets, int *error)
{
    uint64_t counted = add_buckets(f, buckets, body->bucket_count, error);

    if (counted != body->passes || body->min > body->max || (body->passes == 0 && body->sum != 0))
        regions->contradictions++;
    if (f->records != 0)
        regions->repeated++;
    if (f->records < UINT16_MAX)
        f->records++;
    if (body->passes == 0)
        return;
    if (f->passes == 0 || body->min < f->min)
        f->min = body->min;
    if (f->passes == 0 || body->max > f->max)
        f->max = body->max;
    f->passes = add(f->passes, body->passes);
    f->sum = add(f->sum, body->sum);
}

enum trace_status trace_regions_take(struct trace_regions *regions,
                                     const struct trace_record *record, int *error)
{
    struct trace_region *region;
    struct hr_rec_region body;
    const uint8_t *tail;
    const char *name;
    size_t tail_bytes, bucket_bytes;
    int out_of_memory = 0;

    if (!trace_body(record, &body, sizeof body, &tail, &tail_bytes) ||
        body.bucket_count > HR_REGION_BUCKETS ||
        (body.event >= HR_EVENTS_MAX && body.event != HR_REGION_TICKS))
        return TRACE_BAD_RECORD;
    bucket_bytes = body.bucket_count * sizeof(uint64_t);
    if (bucket_bytes + body.name_bytes > tail_bytes)
        return TRACE_BAD_RECORD;
    name = (const char *)tail + bucket_bytes;
    if (memchr(name, 0, body.name_bytes) != NULL)
        return TRACE_BAD_RECORD;
    region = find(regions, name, body.name_bytes);
    if (region == NULL)
        region = append(regions, name, body.name_bytes, &out_of_memory);
    if (region == NULL) {
        regions->ignored += out_of_memory == 0;
    } else {
        if (body.threads > region->threads)
            region->threads = body.threads;
        add_figures(
            regions,
            &region->figures[body.event == HR_REGION_TICKS ? TRACE_REGION_TIME : body.event], &body,
            tail, &out_of_memory);
    }
    if (out_of_memory != 0)
        *error = out_of_memory;
    return TRACE_OK;
}

uint64_t trace_region_passes(const struct trace_region *region)
{
    uint64_t most = 0;

    for (uint32_t k = 0; k < TRACE_REGION_FIGURES; k++)
        if (region->figures[k].passes > most)
            most = region->figures[k].passes;
    return most;
}

uint64_t trace_region_bucket_start(uint32_t bucket)
{
    if (bucket < EXACT_BUCKETS)
        return bucket;
    bucket -= EXACT_BUCKETS;
    return bucket / 4 + 3 < 64 ? (uint64_t)(4 + bucket % 4) << (bucket / 4 + 1) : UINT64_MAX;
}

/* Interpolates a value in a bucket, within the least and the largest value of all. */
static uint64_t between(const struct trace_region_figures *f, double start, double end,
                        double share)
{
    double low = start > (double)f->min ? start : (double)f->min;
    double high = end < (double)f->max ? end : (double)f->max;
    double value = low + (high - low) * share;

    if (value <= (double)f->min)
        return f->min;
    return value >= (double)f->max ? f->max : (uint64_t)value;
}

uint64_t trace_region_percentile(const struct trace_region_figures *f, double share)
{
    double all = 0, below = 0, rank;

    for (uint32_t i = 0; i < f->bucket_count; i++)
        all += (double)f->buckets[i];
    rank = share * all;
    for (uint32_t i = 0; i < f->bucket_count; i++) {
        double count = (double)f->buckets[i];
        double start = (double)trace_region_bucket_start(i);
        double end = i < EXACT_BUCKETS ? start : (double)trace_region_bucket_start(i + 1);

        if (count > 0 && below + count >= rank)
            return between(f, start, end, (rank - below) / count);
        below += count;
    }
    return f->max;
}
