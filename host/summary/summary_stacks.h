/* What a trace's call stacks are like: how they end, and what they cost in the file. */
#ifndef HOST_SUMMARY_SUMMARY_STACKS_H
#define HOST_SUMMARY_SUMMARY_STACKS_H

#include <jansson.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"

struct summary_stacks {
    uint64_t roots[HR_STACK_ROOTS]; /* samples, by how their stacks end; -g dwarf: whole or none */
    uint64_t bytes; /* of their records, in chunks that hold anything of what is selected */
    uint64_t samples; /* in those chunks */
};

/* A chunk, a run of samples and a record go by; the visitor asks for TRACE_SCAN_ROOTS. */
void summary_stacks_chunk(struct summary_stacks *s, const struct hr_chunk_header *header);
void summary_stacks_samples(struct summary_stacks *s, const struct trace_samples *samples);
void summary_stacks_record(struct summary_stacks *s, const struct trace_record *record);
void summary_stacks_merge(struct summary_stacks *s, const struct summary_stacks *next);

/* Nothing where the trace has no stacks. */
void summary_stacks_print(FILE *out, const struct summary_stacks *s, const struct trace_info *info);

/* null where the trace has no stacks; NULL when memory is out. */
json_t *summary_stacks_json(const struct summary_stacks *s, const struct trace_info *info);

#endif
