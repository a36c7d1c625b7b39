/* Counts hits of probes, and requests.  A trace without probes has none of it. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/heap/memory_totals.h"
#include "host/scan/trace_scan.h"

struct summary_probes { /* all zero at first */
    uint64_t hits, entered, returned, reached;
    uint64_t begun, ended; /* requests */
    uint64_t waits; /* HR_REC_WAIT */
    uint8_t *seen; /* points that were hit, a bit each; owned; NULL: none was */
};

void summary_probes_free(struct summary_probes *p);

/* Take hits, and a record of DATA.  Returns 0 or -ENOMEM. */
int summary_probes_hits(struct summary_probes *p, const struct trace_info *info,
                        const struct trace_hits *hits);
void summary_probes_record(struct summary_probes *p, const struct trace_record *record);

/* Adds the following part's counts, and takes over what it owns where this one has none. */
void summary_probes_merge(struct summary_probes *p, struct summary_probes *next,
                          const struct trace_info *info);

/* Prints nothing if the trace has no probes and no requests. */
void summary_probes_print(FILE *out, const struct summary_probes *p, const struct trace_info *info);

/* What the program allocated, in one row. */
void summary_probes_print_allocations(FILE *out, const struct memory_totals *t);
json_t *summary_probes_allocations(const struct trace_info *info, const struct memory_totals *t);

/* Return a JSON null if the trace has none; NULL if out of memory. */
json_t *summary_probes_json(const struct summary_probes *p, const struct trace_info *info);
json_t *summary_probes_requests(const struct summary_probes *p);
json_t *summary_probes_calls(const struct trace_info *info);
