/* Gives names to the counts of a profile's worker.  For host/report/profile.c. */
#pragma once

#include "host/report/profile.h"
#include "host/report/tally.h"
#include "host/scan/off_cpu.h"

struct profile_worker {
    struct profile *profile;
    struct trace_scan *scan;
    struct tally tally;
    struct groups groups;
    struct group last; /* group of the last samples ... */
    uint32_t group; /* ... and its number; 0: none yet */
    size_t section; /* position of the last sections_find */
    uint32_t *nodes; /* cached for each stack node: a place, or a node of the tree; 0: none */
    uint32_t node_count; /* capacity of nodes */
    struct off_cpu off; /* of a profile of waits */
    uint64_t marks;
    uint64_t waits;
};

/* Adds the worker's tally to its profile, whose lock the caller holds.  Returns 0 or -ENOMEM. */
int profile_fold(struct profile_worker *worker);
