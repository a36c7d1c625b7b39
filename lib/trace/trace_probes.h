/* Hits of probes: HR_REC_PROBES and HR_REC_PROBES_WIDE; docs/format.md, "Hits of probes".
 *
 * The encoder is a part of trace_writer.h.  Freestanding; the decoder's input is hostile.
 */
#pragma once

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

struct trace_writer;

struct trace_probes { /* the encoder's state, for trace_writer.c */
    uint32_t argument_count;
    /* the previous hit of the chunk */
    uint64_t time;
    uint64_t interval;
    uint64_t sp;
    uint32_t point; /* 4 * number + HR_PROBE_* */
    uint64_t counters[HR_EVENTS_MAX]; /* whole counts */
    uint64_t increments[HR_EVENTS_MAX];
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    /* counters of the latest hit, across chunks, extended as those of trace_writer.previous are */
    uint64_t latest[HR_EVENTS_MAX];
};

/* Starts a chunk, whose HR_REC_BASE is that of w->previous. */
void trace_probes_begin(struct trace_writer *w);

/* Returns a counter of the latest sample or hit, whichever came later. */
uint64_t trace_probes_later(const struct trace_writer *w, uint32_t event);

struct trace_hit {
    uint64_t time;
    uint64_t sp; /* before the instruction */
    uint32_t tid;
    uint32_t point; /* its number, below HR_PROBE_POINTS_MAX */
    uint32_t what; /* HR_PROBE_ENTERED | HR_PROBE_RETURNED, or HR_PROBE_REACHED */
    uint32_t cpu; /* 0: the decoder does not know it; host/scan/ sets it */
    uint64_t counters[HR_EVENTS_MAX]; /* since the program's start */
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
};

/* Decodes the hits of one chunk. */
struct trace_probes_decoder {
    uint32_t event_count;
    uint32_t argument_count;
    int has_base;
    uint32_t point;
    uint64_t time;
    uint64_t interval;
    uint64_t intervals; /* those of the last run, or-ed: tells whether times can be out of order */
    uint64_t sp;
    uint64_t counters[HR_EVENTS_MAX];
    uint64_t increments[HR_EVENTS_MAX];
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
};

/* Starts a DATA chunk: `base` has just taken its HR_REC_BASE.  argument_count is that of
 * HR_META_PROBES, at most HR_PROBE_ARGUMENTS_MAX. */
void trace_probes_decoder_begin(struct trace_probes_decoder *d, uint32_t argument_count,
                                const struct trace_decoder *base);

/* Decodes the hits of an HR_REC_PROBES or HR_REC_PROBES_WIDE record into out[0..], which has `room`
 * of them (TRACE_RUN_SAMPLES_MAX always suffices), and stores their number in *count.  Counters
 * beyond event_count and arguments beyond argument_count are not written.  If any part of the
 * record does not decode, the hits do not count.
 */
enum trace_status trace_probes_decoder_hits(struct trace_probes_decoder *d,
                                            const struct trace_record *record,
                                            struct trace_hit *out, uint32_t room, uint32_t *count);
