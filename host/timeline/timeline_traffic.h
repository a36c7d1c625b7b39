/* The traffic between a CPU and memory, estimated from core events that count cache lines, and that
 * of the whole machine, from the memory controller's counters.
 *
 * docs/pmu.md has the formulas.  Only core events that performance counters counted, all in the
 * same rings, are used.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/trace/trace_info.h"

#define TIMELINE_FLOWS_MAX 6u
#define TIMELINE_FLOW_TEXT_BYTES ((size_t)HR_EVENTS_MAX * 68)

enum timeline_peak { /* what a flow is a share of; a part of a flow has none */
                     TIMELINE_PEAK_NONE,
                     TIMELINE_PEAK_READ,
                     TIMELINE_PEAK_WRITE,
};

struct timeline_flow {
    const char *name; /* "read", "demand", "prefetch", "written" or "written_at_most"; of the
                         machine "machine_read", "machine_written" */
    const char *label; /* for people */
    uint32_t plus; /* events whose lines it is, a bit each */
    uint32_t minus; /* events whose lines it is not */
    enum timeline_peak peak;
};

/* Fills the flows that the trace's events allow.  Returns how many; 0: none. */
uint32_t timeline_traffic_find(const struct trace_info *info,
                               struct timeline_flow flows[TIMELINE_FLOWS_MAX]);

/* Returns the cache lines of a flow, from the counts of all events. */
uint64_t timeline_traffic_lines(const struct timeline_flow *flow, const uint64_t *counts);

/* Writes "LLC-misses - LLC-load-misses"; raw.  Returns `text`. */
char *timeline_traffic_text(const struct trace_info *info, const struct timeline_flow *flow,
                            char text[TIMELINE_FLOW_TEXT_BYTES]);
