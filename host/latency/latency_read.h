/* What `hr latency` reads from a trace. */
#pragma once

#include "host/latency/latency_detail.h"
#include "host/latency/latency_requests.h"

struct latency_reading {
    /* What is wanted, all zero at first. */
    const char *function; /* the one that counts; NULL: all */
    uint64_t worst, slowest; /* calls of it, and requests, that are kept; 0: none */
    bool counters, correlates;
    bool tail; /* what the longest wait for */
    enum latency_by by;
    /* What was read. */
    struct latency_threads threads;
    struct latency_rows rows;
    struct latency_detail detail;
    struct latency_tails tails;
    struct latency_requests requests; /* with what is wanted of them */
};

/* Returns 0, -errno, or the exit status of a failure that it reported. */
int latency_read(struct latency_reading *r, struct trace_scan *scan, const char *path,
                 enum latency_sort sort);
void latency_read_free(struct latency_reading *r);

/* Reports that a trace has no probes; returns the exit status. */
int latency_read_no_probes(const char *path);
