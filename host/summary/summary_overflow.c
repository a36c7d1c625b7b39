/* Follows periods and rates through a trace of counter overflows. */
#include "host/summary/summary_overflow.h"

#include <errno.h>
#include <string.h>

#include "host/base/cpu_array.h"

int summary_overflow_init(struct overflow *o, const struct trace_info *info)
{
    int error;

    memset(o, 0, sizeof *o);
    o->info = info;
    o->cpus = cpu_array_new(sizeof o->cpus[0]);
    error = o->cpus != NULL ? 0 : -ENOMEM;
    if (error == 0)
        error = rate_init(&o->rate);
    if (error == 0)
        error = histogram_init(&o->periods);
    return error;
}

void summary_overflow_free(struct overflow *o)
{
    histogram_free(&o->periods);
    rate_free(&o->rate);
    cpu_array_free(o->cpus, sizeof o->cpus[0]);
    o->cpus = NULL;
}

static bool applies(const struct overflow *o)
{
    return o->info->sampling.mode == HR_MODE_OVERFLOW;
}

/* On the CPU where the program starts, the first period begins with the program. */
static void start(const struct overflow *o, struct overflow_cpu *cpu, const struct trace_chunk *c)
{
    cpu->started = true;
    cpu->time = o->info->clock.start_ticks;
    cpu->idle_until = cpu->time;
    cpu->follows = c->header.sequence == 0 && o->info->sampling.cpu_count <= 1 &&
                   (o->info->sampling.flags & HR_SAMPLING_PAUSED) == 0;
}

void summary_overflow_chunk(struct overflow *o, const struct trace_chunk *chunk, bool continues)
{
    struct overflow_cpu *cpu = &o->cpus[chunk->header.cpu];

    if (!applies(o))
        return;
    if (!cpu->started)
        start(o, cpu, chunk);
    else if (!continues)
        cpu->follows = false;
    if (!continues)
        cpu->period = 0;
}

void summary_overflow_samples(struct overflow *o, const struct trace_samples *samples)
{
    struct overflow_cpu *cpu = &o->cpus[samples->chunk->cpu];
    uint64_t start_ticks = o->info->clock.start_ticks;
    uint64_t period = cpu->period != 0 ? cpu->period : o->info->sampling.period_events;
    uint16_t flags = samples->slots[0].flags; /* flags of the whole run */

    if (!applies(o) || (flags & HR_SAMPLE_POLLED) != 0)
        return;
    if (period != 0)
        histogram_add_many(&o->periods, period, samples->count);
    for (uint32_t i = 0; i < samples->count; i++) {
        uint64_t time = samples->slots[i].time;
        uint64_t ticks = time - cpu->time;

        if (cpu->follows && (flags & HR_SAMPLE_RESUMED) == 0 && time > cpu->time &&
            time >= start_ticks)
            rate_add(&o->rate, time - start_ticks,
                     ticks > cpu->idle_ticks ? ticks - cpu->idle_ticks : 0);
        cpu->time = time;
        cpu->idle_ticks = 0;
        cpu->follows = true;
    }
}

/* Pauses of several threads may overlap: each time counts once. */
static void take_gap(struct overflow_cpu *cpu, const struct hr_rec_gap *gap)
{
    uint64_t from = gap->time_first;

    if (from < cpu->time)
        from = cpu->time;
    if (from < cpu->idle_until)
        from = cpu->idle_until;
    if (gap->time_last <= from)
        return;
    cpu->idle_ticks += gap->time_last - from;
    cpu->idle_until = gap->time_last;
}

static void take_period(struct overflow *o, struct overflow_cpu *cpu,
                        const struct hr_rec_period *period)
{
    cpu->period = period->period;
    if (o->result.changes++ == 0)
        o->result.first = period->period; /* unless HR_META_SAMPLING has one */
    if (period->time >= o->last_change) {
        o->last_change = period->time;
        o->result.last = period->period;
    }
}

void summary_overflow_record(struct overflow *o, const struct trace_chunk *chunk,
                             const struct trace_record *record)
{
    struct overflow_cpu *cpu = &o->cpus[chunk->header.cpu];
    struct hr_rec_period period;
    struct hr_rec_gap gap;

    if (!applies(o) || chunk->header.type != HR_CHUNK_DATA)
        return;
    if (record->type == HR_REC_LOST)
        cpu->follows = false;
    else if (record->type == HR_REC_GAP && trace_body(record, &gap, sizeof gap, NULL, NULL))
        take_gap(cpu, &gap);
    else if (record->type == HR_REC_PERIOD &&
             trace_body(record, &period, sizeof period, NULL, NULL))
        take_period(o, cpu, &period);
}

void summary_overflow_conclude(struct overflow *o, struct summary *summary)
{
    const struct trace_info *info = &summary->info;
    uint64_t hz = info->clock.ticks_per_second;

    o->info = info;
    if (!applies(o))
        return;
    if (info->sampling.period_events != 0)
        o->result.first = info->sampling.period_events;
    if (o->result.changes == 0)
        o->result.last = o->result.first;
    o->result.median = histogram_percentile(&o->periods, 0.50);
    summary->period = o->result;
    summary->rate_hz = rate_hz(&o->rate, 0, hz);
    summary->rate_last_half_hz = rate_hz(&o->rate, o->rate.last / 2, hz);
}
