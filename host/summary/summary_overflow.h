/* The summary's figures of sampling on counter overflow: periods, and samples per second.
 *
 * The rate is per second of the program's running time: pauses (HR_REC_GAP, and the time before a
 * resumed sample) and times with lost or missing samples do not count.
 */
#pragma once

#include "host/draw/histogram.h"
#include "host/draw/rate.h"
#include "host/scan/trace_scan.h"
#include "host/summary/summary.h"

struct overflow_cpu {
    uint64_t time; /* time of the last sample */
    uint64_t idle_ticks; /* time since then in which the program did not run */
    uint64_t idle_until;
    uint64_t period; /* 0: that of HR_META_SAMPLING */
    bool follows; /* the time since the last sample is known */
    bool started;
};

struct overflow {
    const struct trace_info *info;
    struct overflow_cpu *cpus; /* 65536 entries; untouched pages take no memory */
    struct rate rate;
    struct histogram periods; /* of the samples */
    struct summary_period result; /* the median is set last */
    uint64_t last_change;
};

/* Returns 0 or -ENOMEM; call summary_overflow_free in either case. */
int summary_overflow_init(struct overflow *o, const struct trace_info *info);
void summary_overflow_free(struct overflow *o);

/* The callbacks of struct trace_visitor; they do nothing in other modes. */
void summary_overflow_chunk(struct overflow *o, const struct trace_chunk *chunk, bool continues);
void summary_overflow_samples(struct overflow *o, const struct trace_samples *samples);
void summary_overflow_record(struct overflow *o, const struct trace_chunk *chunk,
                             const struct trace_record *record);

/* Fills the summary after the walk; o->info may have moved into it. */
void summary_overflow_conclude(struct overflow *o, struct summary *summary);
