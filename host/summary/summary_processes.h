/* What each process of a run took: gathered while the samples go by, and shown as a table.  A trace
 * that does not tell of processes has none of it. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"

struct summary_process {
    uint64_t samples;
    uint64_t sums[HR_EVENTS_MAX]; /* increase of the counters up to each sample */
};

struct summary_processes { /* all zero at first */
    struct summary_process *all; /* by number in the trace's table; owned */
    uint32_t count;
};

void summary_processes_free(struct summary_processes *processes);

/* Takes a run of samples.  0 or -ENOMEM. */
int summary_processes_samples(struct summary_processes *processes, const struct trace_info *info,
                              const struct trace_samples *samples);

/* Adds what another part of the trace has.  0 or -ENOMEM. */
int summary_processes_merge(struct summary_processes *processes,
                            const struct summary_processes *next);

/* Prints the table: those with the most samples, in the order in which they started. */
void summary_processes_print(FILE *out, const struct summary_processes *processes,
                             const struct trace_info *info, const char *path);

/* An array of all; NULL where the trace has one process. */
json_t *summary_processes_json(const struct summary_processes *processes,
                               const struct trace_info *info);
