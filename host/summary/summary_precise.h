/* The summary's part about precise samples: how many records each event made. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"

struct summary_precise {
    uint64_t
        records[HR_EVENTS_MAX]; /* by event: those that its counter made, perhaps with others */
};

void summary_precise_samples(struct summary_precise *p, const struct trace_samples *samples);
void summary_precise_merge(struct summary_precise *p, const struct summary_precise *next);

/* Prints nothing for a trace without precise samples, for which there is null in JSON. */
void summary_precise_print(FILE *out, const struct summary_precise *p,
                           const struct trace_info *info);
json_t *summary_precise_json(const struct summary_precise *p, const struct trace_info *info);
