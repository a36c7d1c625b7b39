/* What the summary says about sampling on counter overflow: periods, and samples a second.
 *
 * Samples a second are of the time in which the program ran: pauses (HR_REC_GAP, and whatever lies
 * before a resumed sample) and stretches with lost or missing samples do not count.
 */
#ifndef HOST_SUMMARY_SUMMARY_OVERFLOW_H
#define HOST_SUMMARY_SUMMARY_OVERFLOW_H

#include "host/draw/histogram.h"
#include "host/draw/rate.h"
#include "host/scan/trace_scan.h"
#include "host/summary/summary.h"

struct overflow_cpu {
    uint64_t time; /* of the last sample */
    uint64_t idle_ticks; /* that the program did not run since then */
    uint64_t idle_until;
    uint64_t period; /* 0: that of HR_META_SAMPLING */
    bool follows; /* the time since the last sample is known */
    bool started;
};

struct overflow {
    const struct trace_info *info;
    struct overflow_cpu *cpus; /* 65536, untouched pages cost nothing */
    struct rate rate;
    struct histogram periods; /* of the samples */
    struct summary_period result; /* the median comes last */
    uint64_t last_change;
};

/* 0 or -ENOMEM; overflow_free after either. */
int overflow_init(struct overflow *o, const struct trace_info *info);
void overflow_free(struct overflow *o);

/* As the callbacks of struct trace_visitor; they do nothing in other modes. */
void overflow_chunk(struct overflow *o, const struct trace_chunk *chunk, bool continues);
void overflow_samples(struct overflow *o, const struct trace_samples *samples);
void overflow_record(struct overflow *o, const struct trace_chunk *chunk,
                     const struct trace_record *record);

/* After the walk; info may have moved into the summary since. */
void overflow_conclude(struct overflow *o, struct summary *summary);

#endif
