/* What a walk over a trace gathers for its summary.  For host/summary/summary.c.
 *
 * Parts of a trace can be gathered apart and merged, but for modes whose figures depend on the
 * order over all CPUs.
 */
#ifndef HOST_SUMMARY_GATHER_H
#define HOST_SUMMARY_GATHER_H

#include "host/draw/histogram.h"
#include "host/scan/skew.h"
#include "host/scan/trace_scan.h"
#include "host/summary/summary_overflow.h"
#include "host/summary/summary_stacks.h"

enum gather_state {
    GATHER_UNKNOWN = 0, /* no sample yet: what comes before this part decides */
    GATHER_STOPPED, /* the next sample makes no interval */
    GATHER_RUNNING, /* the last sample and the next one make an interval */
};

struct gather_cpu {
    uint64_t time; /* of the last sample */
    enum gather_state state;
    bool has_head;
    bool sampled; /* counters are of a sample */
    uint64_t head; /* time of the first sample, if it may end an interval */
    uint64_t counters[HR_EVENTS_MAX];
};

struct gather {
    const struct trace_info *info;
    const struct selection *selection;
    struct gather_cpu *cpus; /* 65536, untouched pages cost nothing */
    struct histogram intervals;
    struct histogram costs;
    struct overflow overflow;
    uint64_t polled;
    uint64_t lost; /* in the selection */
    uint64_t sums[HR_EVENTS_MAX]; /* what the counters rose by up to each sample */
    struct skew skew; /* --mode ipi */
    struct summary_stacks stacks;
    uint64_t time_last;
    uint16_t cpu_limit; /* one more than the largest CPU number seen, saturating */
};

extern const struct trace_visitor gather_visitor; /* its context: struct gather */

/* 0 or -ENOMEM; gather_free after either. */
int gather_init(struct gather *g, const struct trace_info *info, const struct selection *selection);
void gather_free(struct gather *g);

/* Adds what was gathered of the part of the trace that comes next. */
void gather_merge(struct gather *g, const struct gather *next);

/* Whether a trace can be gathered in parts. */
bool gather_divides(const struct trace_info *info);

#endif
