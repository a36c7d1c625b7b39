/* Statistics of a trace's call stacks: how they end, and their size in the file. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"

struct summary_stacks {
    uint64_t roots[HR_STACK_ROOTS]; /* samples by how their stacks end; -g dwarf: whole or none */
    uint64_t bytes; /* size of their records, in chunks with anything selected */
    uint64_t samples; /* in those chunks */
};

/* Take a chunk, a run of samples and a record; the visitor must ask for TRACE_SCAN_ROOTS. */
void summary_stacks_chunk(struct summary_stacks *s, const struct hr_chunk_header *header);
void summary_stacks_samples(struct summary_stacks *s, const struct trace_samples *samples);
void summary_stacks_record(struct summary_stacks *s, const struct trace_record *record);
void summary_stacks_merge(struct summary_stacks *s, const struct summary_stacks *next);

/* Prints nothing if the trace has no stacks. */
void summary_stacks_print(FILE *out, const struct summary_stacks *s, const struct trace_info *info);

/* Returns a JSON null if the trace has no stacks; NULL if out of memory. */
json_t *summary_stacks_json(const struct summary_stacks *s, const struct trace_info *info);
