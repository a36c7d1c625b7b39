/* The rates of a bin: what `hr timeline` and `hr plot` show. */
#pragma once

#include <stdbool.h>

#include "host/machine/machine_peak.h"
#include "host/metrics/metrics.h"
#include "host/timeline/timeline_bins.h"
#include "host/timeline/timeline_traffic.h"

#define TIMELINE_LINE_BYTES 64u

enum timeline_metric {
    TIMELINE_USAGE, /* share of the time in which a thread ran */
    TIMELINE_IPC, /* instructions a cycle */
    TIMELINE_GHZ, /* cycles a nanosecond in which a thread ran */
    TIMELINE_FREQUENCY, /* the CPU's own, while it did not halt: aperf / mperf, in GHz */
    TIMELINE_PER_US, /* events a microsecond */
    TIMELINE_PER_KI, /* events per 1000 instructions */
    TIMELINE_BYTES_PER_US, /* of the lines that an event counts */
    TIMELINE_FLOW_PER_US, /* bytes of a flow between the CPU and memory */
    TIMELINE_FLOW_SHARE, /* of the most that this machine was measured to do (hr bench memory) */
    TIMELINE_FLOW_BYTES,
    TIMELINE_OF_METRIC, /* the value of a metric */
    TIMELINE_COUNT, /* events */
    TIMELINE_SAMPLE_COUNT,
    TIMELINE_LOST_COUNT,
    TIMELINE_SKIPPED_COUNT,
};

struct timeline_rate {
    enum timeline_metric metric;
    uint32_t event; /* HR_EVENTS_MAX: of none */
    const struct timeline_flow *flow; /* NULL: of none */
    uint32_t chosen; /* TIMELINE_OF_METRIC: its number among the chosen ones */
};

struct timeline_rates {
    const struct timeline *timeline;
    int instructions; /* events, -1: none */
    int cycles;
    int aperf, mperf; /* both, or neither */
    uint32_t line_bytes;
    uint32_t flow_count;
    struct timeline_flow flows[TIMELINE_FLOWS_MAX];
    const struct metrics_choice *metrics; /* not owned */
    bool has_peak; /* of the machine that made the trace */
    struct machine_peak peak;
    uint32_t count;
    struct timeline_rate all[6 + 4 * HR_EVENTS_MAX];
};

/* The rates that a trace's events allow, of the events in `events` (a bit each). */
void timeline_rates_init(struct timeline_rates *rates, const struct timeline *t, uint32_t events,
                         uint32_t line_bytes);

/* Only the rates of the flows between CPUs and memory, none of instructions or cycles.  Returns 0,
 * or -ENOENT if no event tells of them. */
int timeline_rates_init_traffic(struct timeline_rates *rates, const struct timeline *t,
                                uint32_t line_bytes);

/* Only metrics, which stay the caller's. */
void timeline_rates_init_metrics(struct timeline_rates *rates, const struct timeline *t,
                                 const struct metrics_choice *metrics);

/* A rate of the words of a bin, or of the sum of several, that lasted `ticks`; false: there is
 * none, because nothing ran that could be counted. */
bool timeline_rate(const struct timeline_rates *rates, const struct timeline_rate *rate,
                   const uint64_t *words, uint64_t ticks, double *value);

/* Returns "usage", "ipc", "read_bytes" ...: the names in csv and JSON, perhaps in `room`. */
#define TIMELINE_NAME_BYTES 64
const char *timeline_rate_name(const struct timeline_rates *rates, const struct timeline_rate *rate,
                               char room[TIMELINE_NAME_BYTES]);

/* Returns the bytes of a flow, from the words of a bin. */
uint64_t timeline_rate_bytes(const struct timeline_rates *rates, const struct timeline_flow *flow,
                             const uint64_t *words);

/* The rate is computed from an event that no performance counter counted. */
bool timeline_rate_is_marked(const struct timeline_rates *rates, const struct timeline_rate *rate);

/* For people, escaped: "IPC", "LLC-misses/ki*"; the event's name is cut to fit into `bytes`. */
void timeline_rate_label(const struct timeline_rates *rates, const struct timeline_rate *rate,
                         char *room, size_t bytes);
