/* The metrics of a trace for the page, which computes them of any span of time. */
#pragma once

#include <jansson.h>

#include "host/trace/trace_info.h"

/* Returns the metrics that the trace's events give; NULL: no memory.  A formula is in postfix:
 * numbers, "e0" an event, "m0" a metric of the list, "t" the seconds, and the signs of
 * host/metrics/formula.h. */
json_t *view_metrics_json(const struct trace_info *info);
