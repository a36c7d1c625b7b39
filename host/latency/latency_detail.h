/* One function's invocations in detail: what each called and waited for, the longest ones, and
 * how its parts go with its duration.  Never prints.
 */
#pragma once

#include "host/latency/latency_threads.h"

#define LATENCY_WORST_MAX 1000u
#define LATENCY_STEPS_MAX 4096u /* of the open invocations of a thread */
#define LATENCY_CALLEES_MAX 16u /* functions that are told apart */
#define LATENCY_SAMPLE_MAX 65536u /* invocations that factors are computed from */

struct latency_step { /* of an invocation: a call of a probed function, or a wait */
    bool is_call;
    uint32_t function;
    uint64_t from, to;
    struct latency_wait wait;
};

struct latency_long { /* a long invocation */
    uint64_t time, ticks, own;
    uint32_t tid;
    uint64_t spent[LATENCY_SPENT];
    uint64_t counters[HR_EVENTS_MAX];
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    uint64_t result; /* the first argument of its return */
    struct latency_step *steps; /* in the order of their ends; owned */
    uint32_t step_count;
    uint64_t cut; /* steps that are missing */
};

enum { /* columns of the sample: parts of an invocation */
       LATENCY_TICKS,
       LATENCY_OWN,
       LATENCY_FIRST_SPENT,
       LATENCY_FIRST_CALLEE = LATENCY_FIRST_SPENT + LATENCY_SPENT,
       LATENCY_FIRST_EVENT = LATENCY_FIRST_CALLEE + LATENCY_CALLEES_MAX,
       LATENCY_COLUMNS = LATENCY_FIRST_EVENT + HR_EVENTS_MAX,
};

struct latency_detail {
    const struct trace_info *info;
    uint32_t event_count;
    uint32_t function; /* TRACE_POINTS_NONE: nothing is wanted */
    uint32_t worst_wanted; /* at most LATENCY_WORST_MAX */
    struct latency_long *worst; /* the longest first; owned */
    uint32_t worst_count;
    uint32_t callees[LATENCY_CALLEES_MAX];
    uint32_t callee_count;
    bool callees_cut; /* there are more */
    uint64_t (*sample)[LATENCY_COLUMNS]; /* owned */
    uint32_t sample_count;
    uint64_t calls;
    uint64_t random;
    uint64_t medians[LATENCY_COLUMNS]; /* of the sample, after latency_detail_finish */
    int error; /* -ENOMEM */
};

/* Returns 0 or -ENOMEM. */
int latency_detail_init(struct latency_detail *d, const struct trace_info *info, uint32_t function,
                        uint32_t worst_wanted);
void latency_detail_free(struct latency_detail *d);

/* Of latency_follower. */
void latency_detail_entered(struct latency_detail *d, struct latency_thread *thread, uint32_t slot);
void latency_detail_returned(struct latency_detail *d, const struct latency_call *call);
void latency_detail_lost(struct latency_detail *d, const struct latency_thread *thread,
                         uint32_t slot);
void latency_detail_waited(struct latency_detail *d, struct latency_thread *thread,
                           const struct latency_wait *wait);

/* After the last invocation: computes the medians.  Returns 0 or -ENOMEM. */
int latency_detail_finish(struct latency_detail *d);

/* How a column goes with the duration, over the sample. */
struct latency_factor {
    uint32_t column;
    double ranks; /* Spearman's rank correlation, -1 to 1; 0 if the column is constant */
    double share; /* of the duration's variance that a line through this column explains, 0 to 1 */
    uint64_t median;
};

/* Fills `factors` (room for LATENCY_COLUMNS), the strongest first, of the columns that there are
 * but the duration.  Returns their number, or -ENOMEM. */
int latency_detail_factors(const struct latency_detail *d, struct latency_factor *factors);
