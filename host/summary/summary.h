/* The figures of one run, from its trace, which `hr stat` prints and `hr run` shows at its end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/heap/memory_totals.h"
#include "host/summary/summary_memory.h"
#include "host/summary/summary_precise.h"
#include "host/summary/summary_probes.h"
#include "host/summary/summary_processes.h"
#include "host/summary/summary_stacks.h"
#include "host/trace/selection.h"
#include "host/trace/trace_info.h"

struct summary_spread {
    uint64_t count;
    uint64_t p50_ns;
    uint64_t p99_ns;
    uint64_t max_ns;
};

struct summary_period { /* of overflow sampling: events of the first event between samples */
    uint64_t first; /* 0: unknown, as are all others then */
    uint64_t last;
    uint64_t median; /* over the samples; within 0.1 % */
    uint64_t changes;
};

struct summary {
    char path[4096]; /* of the trace */
    struct trace_info info; /* owned */
    uint64_t bytes; /* of the trace */
    uint64_t samples; /* in the file */
    uint64_t polled; /* of these, requested by the program */
    uint64_t lost; /* dropped and counted by the guest */
    uint64_t gone; /* sent by the guest, missing from the file */
    bool selected; /* only a part of the run is selected: figures of samples are for that part */
    uint64_t from_ns; /* the part; otherwise from 0 ... */
    uint64_t to_ns; /* ... to the program's end */
    uint64_t run_ns; /* duration of the program */
    uint64_t duration_ns; /* duration of the program, or of the selected part */
    struct summary_spread interval; /* between triggered samples of a CPU, pauses excluded */
    struct summary_period period;
    double rate_hz; /* overflow: samples per second of the program's running time; else 0 */
    double rate_last_half_hz;
    struct summary_spread skew; /* between CPUs at a grid point; --mode ipi */
    struct summary_stacks stacks;
    struct summary_processes processes;
    struct summary_memory memory;
    struct summary_probes probes;
    struct memory_totals allocations; /* all zero if the trace has none */
    struct summary_precise precise;
    struct summary_spread cost; /* time to read the counters in a sample */
    bool complete;
    bool growing; /* the trace is still being written: these are the figures so far */
    uint64_t damaged_chunks; /* including damaged stretches between chunks */
    uint64_t missing_chunks;
    uint64_t last[HR_EVENTS_MAX]; /* counters of the last samples, summed over CPUs */
    uint64_t sums[HR_EVENTS_MAX]; /* increase of the counters up to each selected sample */
    char fault_place[256]; /* "main+0x12", "" when unknown */
};

/* Reads the whole trace.  Returns 0 or -errno as trace_file_open; damage is not an error. */
int summary_from_file(const char *path, struct summary *summary);

/* As summary_from_file, for a selection, which it takes over, with `jobs` threads (0: as many as
 * help). */
int summary_of_part(const char *path, struct selection *selection, unsigned int jobs,
                    struct summary *summary);
void summary_free(struct summary *summary);

/* Of a trace that grows: its summary so far, again and again. */
struct summary_growing;

/* For the scan, which is open; NULL without memory. */
struct summary_growing *summary_growing_new(struct trace_scan *scan, const char *path);
void summary_growing_free(struct summary_growing *growing);

/* Takes what the file has now.  0 or -errno. */
int summary_growing_read(struct summary_growing *growing);

/* What there is so far; the summary lives until the next call here, and ends by
 * summary_growing_forget.  0 or -ENOMEM. */
int summary_growing_now(struct summary_growing *growing, struct summary *summary);
void summary_growing_forget(struct summary *summary);

/* At the end, as summary_of_part, with summary_free. */
int summary_growing_finish(struct summary_growing *growing, struct summary *summary);

/* Prints the summary for people, in the style of perf stat. */
void summary_print(FILE *out, const struct summary *summary);

/* Returns an object with the figures; NULL: no memory. */
json_t *summary_json(const struct summary *summary);

/* Prints it and a line end.  Returns 0 or -ENOMEM; errors of `out` stay in its error flag. */
int summary_print_json(FILE *out, const struct summary *summary);

/* Returns the program's exit status as a shell gives it (128+N for signal N, 124 after a timeout),
 * or -1 if the trace does not say. */
int summary_exit_status(const struct summary *summary);

/* Returns an event's total.  *whole tells whether it is the program's (true) or the last sample's
 * (false).  For a part of the run it is the increase of the counters up to each of its samples. */
uint64_t summary_event_total(const struct summary *summary, uint32_t event, bool *whole);

/* Returns the program's instructions by the time that the whole run took on the host; 0: one of
 * them is unknown. */
double summary_instructions_per_second(const struct summary *summary);
