/* What hr annotate shows: a function's instructions, its hottest ones, or its source lines. */
#pragma once

#include <stdio.h>

#include "host/annotate/annotate_code.h"
#include "host/annotate/annotate_source.h"
#include "host/metrics/metrics.h"

struct annotate_view {
    const char *function; /* NULL: it has no name; raw */
    const char *object; /* NULL: unknown; raw */
    const struct trace_info *info;
    const struct annotate_counts *counts;
    const struct metrics_choice *metrics; /* shown as well; may be none */
    const struct annotate_code *code;
    struct symbols *symbols;
    struct annotate_source *source;
    uint64_t function_bytes; /* more than counts, where only its begin is shown */
    uint64_t all_samples; /* of the trace, as far as it was selected */
    uint64_t all_sum; /* of the event */
    int weight; /* the event whose share is shown; -1: samples */
    unsigned long limit; /* only the hottest; 0: all, in order */
    unsigned int columns; /* of the terminal; 0: lines may be of any length */
    bool colours;
};

/* 0 or -ENOMEM. */
int annotate_print_code(FILE *out, const struct annotate_view *view);

/* By source line, hottest first.  0 or -ENOMEM. */
int annotate_print_lines(FILE *out, const struct annotate_view *view);
