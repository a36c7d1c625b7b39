/* What `hr report` shows: samples and events by place and group, or as a tree of calls.
 *
 * Workers count by address and stack (host/report/tally.h), which is fast; what they counted gets
 * its names at the end, or whenever a worker's table is full.  Memory is bounded whatever the trace
 * holds.  Never prints.
 */
#ifndef HOST_REPORT_PROFILE_H
#define HOST_REPORT_PROFILE_H

#include <pthread.h>

#include "host/draw/function_name.h"
#include "host/report/groups.h"
#include "host/report/places.h"
#include "host/report/rows.h"
#include "host/report/sections.h"
#include "host/report/tree.h"
#include "host/scan/trace_scan.h"

#define PROFILE_TALLY_BYTES (40u << 20) /* of all workers */

struct profile_options {
    enum place_kind by; /* PLACE_NONE: groups alone */
    bool by_cpu;
    bool by_thread;
    const struct sections *sections; /* by mark; NULL: not */
    bool stacks; /* totals, or a tree: what callers caused */
    bool tree; /* instead of rows */
    const char *sort; /* an event; NULL: samples */
};

struct profile {
    const struct profile_options *options;
    struct trace_scan *scan;
    struct symbols *symbols; /* owned, NULL before the first sample was named */
    struct places places;
    struct groups groups;
    struct rows rows;
    struct tree tree;
    pthread_mutex_t lock; /* around all above while workers count */
    unsigned int jobs; /* that share the memory */
    int event; /* sorted by; -1: samples; -2: there is none of that name */
    uint32_t event_count;
    uint32_t stamp; /* of row.stamp */
    bool ready; /* the above is made */
    struct rows_count all;
    uint64_t ends[HR_STACK_ROOTS]; /* samples by how their stacks end */
    uint64_t marks; /* of the selected chunks */
    uint64_t waits; /* times that a thread left its CPU to wait, in the selected chunks */
};

/* Walks over the trace with so many workers and fills the profile, unsorted.  0, -errno. */
int profile_run(struct profile *profile, struct trace_scan *scan,
                const struct profile_options *options, unsigned int jobs);
void profile_free(struct profile *profile);

/* Sorts the rows by the event, with `total` by what they and those they called counted; or
 * finishes the tree.  0 or -ENOMEM.
 */
int profile_sort(struct profile *profile, bool total);

/* Offers the functions that are on stacks. */
void profile_offer_frames(const struct profile *profile, struct function_choice *choice);

/* The tree of who called the functions chosen, those first.  0 or -ENOMEM. */
int profile_callers(struct profile *profile, const struct function_choice *function,
                    struct tree *callers);

#endif
