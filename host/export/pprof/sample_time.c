/* Says how long a sample stands for. */
#include "host/export/pprof/sample_time.h"

#include <errno.h>
#include <stdlib.h>

#define CPUS_MAX 65536u

int sample_time_init(struct sample_time *time, const struct trace_info *info)
{
    *time = (struct sample_time){.info = info};
    if (info->sampling.interval_ticks != 0) {
        time->interval_ns = trace_info_interval_ns(info);
        return 0;
    }
    time->gap_ends = calloc(CPUS_MAX, sizeof time->gap_ends[0]);
    return time->gap_ends != NULL ? 0 : -ENOMEM;
}

void sample_time_free(struct sample_time *time)
{
    free(time->gap_ends);
    time->gap_ends = NULL;
}

void sample_time_record(struct sample_time *time, const struct trace_chunk *chunk,
                        const struct trace_record *record)
{
    struct hr_rec_gap gap;

    if (time->gap_ends != NULL && chunk->header.type == HR_CHUNK_DATA &&
        record->type == HR_REC_GAP && trace_body(record, &gap, sizeof gap, NULL, NULL)) {
        time->gap_ends[chunk->header.cpu] = gap.time_last;
        time->gap = true;
    }
}

void sample_time_begin(struct sample_time *part, uint32_t cpu)
{
    if (part->gap_ends != NULL)
        part->gap_ends[cpu] = 0;
    part->earliest = UINT64_MAX;
    part->gap = false;
}

bool sample_time_join(struct sample_time *time, const struct sample_time *part, uint32_t cpu)
{
    if (time->gap_ends == NULL)
        return true;
    if (time->gap_ends[cpu] > part->earliest)
        return false;
    if (part->gap)
        time->gap_ends[cpu] = part->gap_ends[cpu];
    return true;
}

uint64_t sample_time_ns(struct sample_time *time, uint32_t cpu, const struct trace_slot *sample,
                        const struct trace_slot *previous)
{
    uint64_t from = previous->time;

    if (time->gap_ends == NULL)
        return time->interval_ns;
    if (from < time->earliest)
        time->earliest = from;
    if (time->gap_ends[cpu] > from)
        from = time->gap_ends[cpu];
    if (time->info->clock.start_ticks > from)
        from = time->info->clock.start_ticks;
    if ((sample->flags & HR_SAMPLE_RESUMED) != 0 || sample->time < from)
        return 0;
    return trace_info_ns(time->info, sample->time - from);
}
