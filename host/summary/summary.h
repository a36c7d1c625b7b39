/* The figures of one run, from its trace: what `hr stat` prints and `hr run` shows at its end. */
#ifndef HOST_SUMMARY_SUMMARY_H
#define HOST_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
    uint64_t samples; /* that came */
    uint64_t polled; /* among them: those that the program asked for */
    uint64_t lost; /* dropped by the guest, counted there */
    uint64_t gone; /* sent by the guest, missing from the file */
    bool selected; /* a part of the run: the figures of samples are the part's */
    uint64_t from_ns; /* the part; else from 0 ... */
    uint64_t to_ns; /* ... to the program's end */
    uint64_t run_ns; /* of the program */
    uint64_t duration_ns; /* of the program, or of the part of its time */
    struct summary_spread interval; /* between triggered samples of a CPU, without a pause */
    struct summary_period period;
    double rate_hz; /* overflow: samples a second of the time that the program ran; else 0 */
    double rate_last_half_hz;
    struct summary_spread skew; /* of the CPUs at a grid point; --mode ipi */
    struct summary_stacks stacks;
    struct summary_spread cost; /* of reading the counters in a sample */
    bool complete;
    uint64_t damaged_chunks; /* and damaged stretches between chunks */
    uint64_t missing_chunks;
    uint64_t last[HR_EVENTS_MAX]; /* counters of the last samples, summed over CPUs */
    uint64_t sums[HR_EVENTS_MAX]; /* what the counters rose by up to each selected sample */
    char fault_place[256]; /* "main+0x12", "" when unknown */
};

/* Reads the whole trace.  0 or -errno as trace_file_open; damage is no error. */
int summary_from_file(const char *path, struct summary *summary);

/* The same of what is selected, with so many threads (0: as many as help); takes the selection. */
int summary_of_part(const char *path, struct selection *selection, unsigned int jobs,
                    struct summary *summary);
void summary_free(struct summary *summary);

/* For people, in the manner of perf stat. */
void summary_print(FILE *out, const struct summary *summary);

/* One JSON object and a line end.  0 or -ENOMEM; errors of `out` stay in its error flag. */
int summary_print_json(FILE *out, const struct summary *summary);

/* The program's exit status as a shell gives it (128+N for signal N, 124 after a timeout), or -1
 * when the trace does not say.
 */
int summary_exit_status(const struct summary *summary);

/* An event's total, and whether it is the program's (true) or the last sample's (false).  Of a part
 * it is what the counters rose by up to each of its samples.
 */
uint64_t summary_event_total(const struct summary *summary, uint32_t event, bool *whole);

#endif
