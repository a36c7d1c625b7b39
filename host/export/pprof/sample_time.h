/* The time that a sample stands for.
 *
 * Where a timer takes samples it is the interval.  Otherwise it is what passed since the CPU's
 * sample before, without the gaps in which the program did not run; nothing for the first sample
 * after a pause.
 */
#pragma once

#include "host/trace/trace_file.h"
#include "host/trace/trace_info.h"

struct sample_time {
    const struct trace_info *info;
    uint64_t interval_ns; /* 0: no timer */
    uint64_t *gap_ends; /* of each CPU's last gap; owned, NULL with a timer */
    /* Of a part: */
    uint64_t earliest; /* time since which a sample was counted */
    bool gap; /* it has one */
};

/* 0 or -ENOMEM; `info` is borrowed. */
int sample_time_init(struct sample_time *time, const struct trace_info *info);
void sample_time_free(struct sample_time *time);

/* To be shown every record, in the order of the trace. */
void sample_time_record(struct sample_time *time, const struct trace_chunk *chunk,
                        const struct trace_record *record);

uint64_t sample_time_ns(struct sample_time *time, uint32_t cpu, const struct trace_slot *sample,
                        const struct trace_slot *previous);

/* A part of a CPU's samples begins, of which the gaps before are not known. */
void sample_time_begin(struct sample_time *part, uint32_t cpu);

/* Whether the times of a part are right after what `time` was shown, which then is shown the part.
 */
bool sample_time_join(struct sample_time *time, const struct sample_time *part, uint32_t cpu);
