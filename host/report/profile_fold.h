/* Puts names to what a worker of a profile counted.  For host/report/profile.c. */
#ifndef HOST_REPORT_PROFILE_FOLD_H
#define HOST_REPORT_PROFILE_FOLD_H

#include "host/report/profile.h"
#include "host/report/tally.h"

struct profile_worker {
    struct profile *profile;
    struct trace_scan *scan;
    struct tally tally;
    struct groups groups;
    struct group last; /* of the last samples, whose number is ... */
    uint32_t group; /* ... this; 0: none yet */
    size_t section; /* where sections_find found the last one */
    uint32_t *nodes; /* what stack nodes came to before: places, or nodes of the tree; 0: unknown */
    uint32_t node_count; /* that there is room for */
    uint64_t marks;
    uint64_t waits;
};

/* Adds what is in the worker's tally to its profile, whose lock is held.  0 or -ENOMEM. */
int profile_fold(struct profile_worker *worker);

#endif
