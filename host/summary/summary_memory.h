/* How much memory the program touched between two looks at its pages (hr run --pages). */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"

struct summary_memory { /* all zero at first */
    uint64_t *looks; /* pages of 4 KiB that each saw; owned */
    uint32_t look_count;
    uint32_t room; /* allocated, all zero from look_count on */
};

void summary_memory_free(struct summary_memory *memory);

/* Takes a record of any kind.  0 or -ENOMEM. */
int summary_memory_record(struct summary_memory *memory, const struct trace_info *info,
                          const struct selection *selection, const struct trace_record *record);

/* Adds what another part of the trace has.  0 or -ENOMEM. */
int summary_memory_merge(struct summary_memory *memory, const struct summary_memory *next);

/* Print the median and the largest of the looks' sets; nothing and NULL where there are none.  Sort
 * the looks. */
void summary_memory_print(FILE *out, const struct summary_memory *memory,
                          const struct trace_info *info);
json_t *summary_memory_json(const struct summary_memory *memory, const struct trace_info *info);
