/* The finest level of the page's timeline: what each CPU counted in equal spans of time.
 *
 * A bin holds the sums over its samples and the least and the largest rate of any one of them, so
 * that the page can draw any zoom as least, mean and largest.  The width is a power of two and
 * doubles when the bins of all CPUs would be more than a budget; memory is bounded whatever the
 * trace holds.  Times are ticks since the program's start.
 */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/view/data/view_columns.h"

#define VIEW_BINS_CPUS_MAX 256u /* samples of further CPUs are in no bin */
#define VIEW_BINS_VALUES_MAX (7u << 20) /* of all CPUs; bounds the page's size */

struct view_bins_cpu {
    uint64_t *sums; /* samples, ticks and each event's increments of a bin; owned */
    uint16_t *extremes; /* each event's least and largest rate per tick, then per base event, in
                           16 bits; owned */
    uint32_t used; /* bins */
    uint32_t room;
    uint16_t cpu;
};

struct view_bins {
    struct view_bins_cpu *cpus; /* owned */
    uint32_t cpu_count;
    uint32_t event_count;
    int base; /* the event that others are compared with (instructions), -1: none */
    unsigned shift; /* a bin is 2^shift ticks wide */
    uint64_t origin; /* where the first one begins: 0, but for bins to be added to others */
    uint32_t bins_max; /* of all CPUs */
    uint64_t ignored; /* samples of CPUs beyond the bound */
};

/* `finest_ticks` is about the least width that makes sense.  0 or -ENOMEM. */
int view_bins_init(struct view_bins *bins, uint32_t event_count, int base, uint64_t finest_ticks);
void view_bins_free(struct view_bins *bins);

/* Times before `start` count as 0.  0 or -ENOMEM. */
int view_bins_add(struct view_bins *bins, const struct trace_samples *samples, uint64_t start);

/* Empties bins for samples of one CPU, none before `time` and none VIEW_BINS_PART bins later or
 * more, that are to be added to others by view_bins_merge: to those that are 2^shift ticks wide
 * now, or will be wider. */
#define VIEW_BINS_PART (1u << 15)
void view_bins_begin(struct view_bins *bins, uint16_t cpu, unsigned shift, uint64_t time);

/* Adds them, with the outcome of view_bins_add of each sample.  0 or -ENOMEM. */
int view_bins_merge(struct view_bins *bins, const struct view_bins *part);

/* Puts the bins into a group of columns, and their layout into its JSON. */
void view_bins_pack(const struct view_bins *bins, struct view_columns *columns);
