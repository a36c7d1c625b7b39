/* How many of a trace's samples lie in each file that it mapped: whether names that a file lacks
 * are worth a warning. */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

struct object_share { /* all zero: no samples yet */
    uint64_t *of_map; /* samples in each of the trace's maps, and in its views after those; owned */
    uint64_t all;
    size_t last; /* the map of the sample before */
    const char *wanted; /* a file, without folders, that matters anyway; NULL: none */
};

void object_share_free(struct object_share *share);

/* Counts the samples of a run; without memory it counts none. */
void object_share_add(struct object_share *share, const struct trace_info *info,
                      const struct trace_samples *samples);

/* Counts samples at an address. */
void object_share_count(struct object_share *share, const struct trace_info *info, uint64_t ip,
                        uint64_t weight);

/* Adds what another worker counted of the same trace. */
void object_share_merge(struct object_share *share, const struct object_share *more);

/* Says why files gave no names, or not all: of the files that have at least a hundredth of the
 * samples, or of all when none were counted.  The lines begin with `path` unless it is NULL. */
void object_share_warn(const struct object_share *share, const struct trace_info *info,
                       const struct symbols *symbols, const char *path);
