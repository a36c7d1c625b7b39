/* Reads one trace of a sweep along the axis: instructions of the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/report/report_marks.h"
#include "host/trace/trace_info.h"

#define SWEEP_MACHINE_BYTES 256

struct sweep_trace {
    uint32_t event_count; /* the axis is event 0 */
    uint64_t totals[HR_EVENTS_MAX];
    uint8_t sources[HR_EVENTS_MAX]; /* enum hr_source */
    uint64_t duration_ns;
    char cpu[80]; /* VENDOR-FAMILY-MODEL, as events_cpu_parse takes it; "" if it is not known */
    bool exact; /* virtual time: runs are equal */
    char machine[SWEEP_MACHINE_BYTES];
    double *bins; /* [bin][event_count + 1]: what each event counted there, and the time in ns;
                     owned */
    struct trace_regions regions; /* owned */
    struct report_marks marks; /* owned; none where samples have no times */
};

/* Divides the instructions into `bins` parts of `width` instructions; what is beyond belongs to the
 * last one.  The counts of several CPUs are added up by time.  Returns 0 or -errno. */
int sweep_trace_read(struct sweep_trace *trace, const char *path, double width, size_t bins);
void sweep_trace_free(struct sweep_trace *trace);

/* Returns where the bin's counts are. */
static inline double *sweep_trace_bin(const struct sweep_trace *trace, size_t bin)
{
    return trace->bins + bin * (trace->event_count + 1);
}

/* Writes what a trace says of the processor; runs of which it differs are not joined.  Raw. */
void sweep_trace_machine(const struct trace_info *info, char text[SWEEP_MACHINE_BYTES]);
