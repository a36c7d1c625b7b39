/* How far apart the CPUs took the samples of one grid point, with --mode ipi. */
#pragma once

#include "host/draw/histogram.h"
#include "host/scan/trace_scan.h"

#define SKEW_POINTS (1u << 18) /* that are open: CPUs' chunks come this much out of step */

struct skew_point;

struct skew {
    uint64_t start; /* the grid: start + k * interval */
    uint64_t interval; /* 0: there is none, and nothing is taken */
    struct histogram spreads; /* in ticks, of the points that two or more CPUs sampled */
    struct skew_point *points; /* point k at k % SKEW_POINTS; owned, NULL before there is a grid */
};

int skew_init(struct skew *skew); /* 0 or -ENOMEM */
void skew_free(struct skew *skew);

/* Takes the grid from a trace's metadata, if its mode has one for all CPUs.  Returns 0 or -ENOMEM,
 * after which there is none. */
int skew_set_grid(struct skew *skew, const struct trace_info *info);

/* Samples that are late or that the program asked for belong to no point. */
void skew_add(struct skew *skew, const struct trace_samples *samples);

/* After the last sample: spreads is complete. */
void skew_finish(struct skew *skew);
