/* How long a trace is, before its samples are read. */
#pragma once

#include <stdint.h>

#include "host/scan/trace_scan.h"

/* The time of the last record, in ticks: from the index, else by walking over the chunks; 0 when
 * there is none.  The scan is open and has not run; its place in the file stays.  0 or -errno. */
int trace_span_last(struct trace_scan *scan, uint64_t *last);
