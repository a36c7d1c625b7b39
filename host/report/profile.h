/* The profile that `hr report` shows: samples and events by place and group, or as a tree of calls.
 *
 * Workers count by address and stack (host/report/tally.h), which is fast.  Their counts get names
 * at the end, or whenever a worker's table is full.  Memory is bounded for any trace.  Never
 * prints.
 */
#pragma once

#include <pthread.h>

#include "host/draw/function_name.h"
#include "host/report/groups.h"
#include "host/report/places.h"
#include "host/report/rows.h"
#include "host/report/sections.h"
#include "host/report/tree.h"
#include "host/scan/trace_scan.h"

#define PROFILE_TALLY_BYTES (40u << 20) /* for all workers together */

struct profile_options {
    enum place_kind by; /* PLACE_NONE: groups alone */
    bool by_cpu;
    bool by_process;
    bool by_thread;
    const struct sections *sections; /* group by the sections between marks; NULL: do not */
    bool stacks; /* totals, or a tree, include what callees counted */
    bool tree; /* a tree instead of rows */
    bool waits; /* where threads waited, a sample for each nanosecond, instead of samples */
    bool python; /* a sample is where its stack's first frame is, not where its ip is */
    const char *sort; /* an event; NULL: samples */
};

struct profile {
    const struct profile_options *options;
    struct trace_scan *scan;
    struct symbols *symbols; /* owned; NULL before the first sample is named */
    struct places places;
    struct groups groups;
    struct rows rows;
    struct tree tree;
    pthread_mutex_t lock; /* protects all fields above while workers count */
    unsigned int jobs; /* number of workers that share the memory */
    int event; /* sort by this event; -1: samples; -2: there is none of that name */
    uint32_t event_count;
    uint32_t stamp; /* last value given to rows.stamps */
    bool ready; /* the fields above are initialised */
    struct rows_count all;
    uint64_t ends[HR_STACK_ROOTS]; /* samples by the end of their stacks */
    uint64_t marks; /* number of marks in the selected chunks */
    uint64_t waits; /* how often a thread left its CPU to wait, in the selected chunks */
};

/* Walks over the trace with `jobs` workers and fills the profile, unsorted.  Returns 0 or -errno.
 */
int profile_run(struct profile *profile, struct trace_scan *scan,
                const struct profile_options *options, unsigned int jobs);
void profile_free(struct profile *profile);

/* Of a trace that grows. */
struct profile_growing;

/* NULL without memory; profile_free after either. */
struct profile_growing *profile_growing_new(struct profile *profile, struct trace_scan *scan,
                                            const struct profile_options *options);
void profile_growing_free(struct profile_growing *growing);

/* Takes what the file has now.  0 or -errno. */
int profile_growing_read(struct profile_growing *growing);

/* The profile so far, sorted as by profile_sort; it is the caller's until the next call here.
 * Counts that had to make room for others, of very many different stacks, are not in it.  0 or
 * -ENOMEM. */
int profile_growing_now(struct profile_growing *growing, bool total, struct profile **now);

/* Fills the profile as profile_run does.  0 or -errno. */
int profile_growing_finish(struct profile_growing *growing, unsigned int jobs);

/* Sorts the rows by the event, with `total` including what their callees counted; or finishes the
 * tree.  Returns 0 or -ENOMEM. */
int profile_sort(struct profile *profile, bool total);

/* Offers the functions that are on stacks to the choice. */
void profile_offer_frames(const struct profile *profile, struct function_choice *choice);

/* Builds the tree of callers of the chosen functions, which are below its root.  Returns 0 or
 * -ENOMEM. */
int profile_callers(struct profile *profile, const struct function_choice *function,
                    struct tree *callers);
