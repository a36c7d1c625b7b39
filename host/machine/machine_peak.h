/* The measured peak of a machine's memory, which hr bench memory keeps in the cache folder. */
#pragma once

#include <stdbool.h>

#include "host/trace/trace_info.h"

struct machine_peak { /* of one CPU */
    double read_per_us; /* bytes */
    double write_per_us;
    double copy_per_us; /* bytes read and written */
    double latency_ns; /* of one load after the other */
};

/* Keeps the peak for the processor that made a trace.  Returns 0; -ENODATA: the trace does not
 * name its model; or other -errno. */
int machine_peak_store(const struct trace_info *info, const struct machine_peak *peak);

/* Finds the peak of the processor that made a trace.  Returns false if none was kept. */
bool machine_peak_load(const struct trace_info *info, struct machine_peak *peak);
