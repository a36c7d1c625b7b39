/* What a walk over a trace gathers for its summary.  For host/summary/summary.c.
 *
 * Parts of a trace can be gathered separately and merged, except in modes whose figures depend on
 * the order over all CPUs.
 */
#pragma once

#include "host/draw/histogram.h"
#include "host/scan/skew.h"
#include "host/scan/trace_scan.h"
#include "host/summary/summary_memory.h"
#include "host/summary/summary_overflow.h"
#include "host/summary/summary_precise.h"
#include "host/summary/summary_probes.h"
#include "host/summary/summary_processes.h"
#include "host/summary/summary_stacks.h"

enum gather_state {
    GATHER_UNKNOWN = 0, /* no sample yet: the part before this one decides */
    GATHER_STOPPED, /* the next sample ends no interval */
    GATHER_RUNNING, /* the next sample ends an interval */
};

struct gather_cpu {
    uint64_t time; /* time of the last sample */
    enum gather_state state;
    bool has_head;
    bool sampled; /* counters are valid, from a sample */
    uint64_t head; /* time of the first sample, if it may end an interval */
    uint64_t counters[HR_EVENTS_MAX];
};

struct gather {
    const struct trace_info *info;
    const struct selection *selection;
    struct gather_cpu *cpus; /* 65536 entries; untouched pages take no memory */
    struct histogram intervals;
    struct histogram costs;
    struct overflow overflow;
    uint64_t polled;
    uint64_t lost; /* in the selection */
    uint64_t sums[HR_EVENTS_MAX]; /* increase of the counters up to each sample */
    struct skew skew; /* for --mode ipi */
    struct summary_stacks stacks;
    struct summary_processes processes;
    struct summary_memory memory;
    struct summary_probes probes;
    struct summary_precise precise;
    uint64_t time_last;
    uint16_t cpu_limit; /* one more than the largest CPU number seen, saturating */
};

extern const struct trace_visitor gather_visitor; /* context: struct gather */

/* Returns 0 or -ENOMEM; call gather_free in either case. */
int gather_init(struct gather *g, const struct trace_info *info, const struct selection *selection);
void gather_free(struct gather *g);

/* Adds what was gathered from the following part of the trace.  0 or -ENOMEM. */
int gather_merge(struct gather *g, struct gather *next);

/* Returns whether a trace can be gathered in parts. */
bool gather_divides(const struct trace_info *info);
