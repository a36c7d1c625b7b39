/* Gathers the figures of a run while its samples go by. */
#include "host/summary/gather.h"

#include <errno.h>
#include <string.h>

#include "host/base/cpu_array.h"

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct gather *g = context;

    if (!continues)
        g->cpus[chunk->header.cpu].state = GATHER_STOPPED;
    summary_overflow_chunk(&g->overflow, chunk, continues);
    summary_stacks_chunk(&g->stacks, &chunk->header);
    if (chunk->header.cpu >= g->cpu_limit)
        g->cpu_limit =
            chunk->header.cpu == UINT16_MAX ? UINT16_MAX : (uint16_t)(chunk->header.cpu + 1);
    if (chunk->header.time_last > g->time_last)
        g->time_last = chunk->header.time_last;
    return 0;
}

/* Takes samples that make no interval: requested by the program, or after a pause. */
static bool take_untimed(struct gather *g, struct gather_cpu *cpu,
                         const struct trace_samples *samples)
{
    const struct trace_slot *last = &samples->slots[samples->count - 1];
    bool polled =
        (last->flags & HR_SAMPLE_POLLED) != 0 && g->info->sampling.mode != HR_MODE_INSTRUCTED;

    if (!polled && (last->flags & HR_SAMPLE_RESUMED) == 0)
        return false;
    for (uint32_t i = 0; i < samples->count; i++)
        histogram_add(&g->costs, samples->slots[i].cost_ticks);
    if (!polled) {
        cpu->time = last->time;
        cpu->state = GATHER_RUNNING;
    }
    return true;
}

static void take_counters(struct gather *g, struct gather_cpu *cpu,
                          const struct trace_samples *samples)
{
    const struct trace_slot *last = &samples->slots[samples->count - 1];

    cpu->sampled = true;
    memcpy(cpu->counters, last->counters, samples->event_count * sizeof cpu->counters[0]);
    if ((last->flags & HR_SAMPLE_RESUMED) == 0)
        for (uint32_t i = 0; i < samples->event_count; i++)
            g->sums[i] += last->counters[i] - samples->previous->counters[i];
}

/* Takes the first sample of a CPU, or the first one after samples without an interval. */
static void take_first(struct gather *g, struct gather_cpu *cpu, const struct trace_slot *slot)
{
    if (cpu->state == GATHER_UNKNOWN) {
        cpu->head = slot->time;
        cpu->has_head = true;
    }
    histogram_add(&g->costs, slot->cost_ticks);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct gather *g = context;
    struct gather_cpu *cpu = &g->cpus[samples->chunk->cpu];
    const struct trace_slot *slot = samples->slots;
    const struct trace_slot *end = slot + samples->count;
    uint64_t time = cpu->time;

    skew_add(&g->skew, samples);
    summary_overflow_samples(&g->overflow, samples);
    summary_stacks_samples(&g->stacks, samples);
    summary_precise_samples(&g->precise, samples);
    g->polled += (slot->flags & HR_SAMPLE_POLLED) != 0 ? samples->count : 0;
    take_counters(g, cpu, samples);
    if (summary_processes_samples(&g->processes, g->info, samples) != 0)
        return -ENOMEM;
    if (take_untimed(g, cpu, samples))
        return 0;
    if (cpu->state != GATHER_RUNNING) {
        take_first(g, cpu, slot);
        time = slot->time;
        slot++;
    }
    for (; slot < end; slot++) {
        if (slot->time >= time) /* else the clock went backwards, which hr check reports */
            histogram_add(&g->intervals, slot->time - time);
        histogram_add(&g->costs, slot->cost_ticks);
        time = slot->time;
    }
    cpu->time = time;
    cpu->state = GATHER_RUNNING;
    return 0;
}

static void take_lost(struct gather *g, const struct trace_record *record)
{
    struct hr_rec_lost lost;

    if (trace_body(record, &lost, sizeof lost, NULL, NULL) &&
        trace_info_time_ns(g->info, lost.time_last) >= g->selection->from_ns &&
        trace_info_time_ns(g->info, lost.time_first) <= g->selection->to_ns)
        g->lost += lost.count;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct gather *g = context;
    int error = 0;

    if (record->type == HR_META_SAMPLING || record->type == HR_META_CLOCK)
        error = skew_set_grid(&g->skew, g->info);
    if (record->type == HR_REC_LOST)
        take_lost(g, record);
    if (record->type == HR_REC_LOST || record->type == HR_REC_GAP || record->type == HR_REC_SWITCH)
        g->cpus[chunk->header.cpu].state = GATHER_STOPPED;
    summary_overflow_record(&g->overflow, chunk, record);
    summary_stacks_record(&g->stacks, record);
    summary_probes_record(&g->probes, record);
    if (error == 0)
        error = summary_memory_record(&g->memory, g->info, g->selection, record);
    return error;
}

static int take_hits(void *context, const struct trace_hits *hits)
{
    struct gather *g = context;

    return summary_probes_hits(&g->probes, g->info, hits);
}

const struct trace_visitor gather_visitor = {
    .stacks = TRACE_SCAN_ROOTS,
    .accesses = true,
    .chunk = take_chunk,
    .samples = take_samples,
    .hits = take_hits,
    .record = take_record,
};

int gather_init(struct gather *g, const struct trace_info *info, const struct selection *selection)
{
    int error;

    memset(g, 0, sizeof *g);
    g->info = info;
    g->selection = selection;
    g->cpus = cpu_array_new(sizeof g->cpus[0]);
    error = g->cpus != NULL ? 0 : -ENOMEM;
    if (error == 0)
        error = histogram_init(&g->intervals);
    if (error == 0)
        error = histogram_init(&g->costs);
    if (error == 0)
        error = summary_overflow_init(&g->overflow, info);
    if (error == 0)
        error = skew_init(&g->skew);
    return error;
}

void gather_free(struct gather *g)
{
    histogram_free(&g->intervals);
    histogram_free(&g->costs);
    summary_overflow_free(&g->overflow);
    skew_free(&g->skew);
    summary_processes_free(&g->processes);
    summary_memory_free(&g->memory);
    summary_probes_free(&g->probes);
    cpu_array_free(g->cpus, sizeof g->cpus[0]);
}

/* The last sample here and the first one of `next` may make an interval. */
static void merge_cpu(struct gather *g, struct gather_cpu *cpu, const struct gather_cpu *next)
{
    if (next->has_head && cpu->state == GATHER_RUNNING && next->head >= cpu->time)
        histogram_add(&g->intervals, next->head - cpu->time);
    if (next->has_head && cpu->state == GATHER_UNKNOWN) {
        cpu->head = next->head;
        cpu->has_head = true;
    }
    if (next->state != GATHER_UNKNOWN) {
        cpu->state = next->state;
        cpu->time = next->time;
    }
    if (next->sampled) {
        cpu->sampled = true;
        memcpy(cpu->counters, next->counters, sizeof cpu->counters);
    }
}

int gather_merge(struct gather *g, struct gather *next)
{
    for (uint32_t i = 0; i < next->cpu_limit; i++)
        merge_cpu(g, &g->cpus[i], &next->cpus[i]);
    if (next->cpu_limit > g->cpu_limit)
        g->cpu_limit = next->cpu_limit;
    if (next->time_last > g->time_last)
        g->time_last = next->time_last;
    histogram_merge(&g->intervals, &next->intervals);
    histogram_merge(&g->costs, &next->costs);
    summary_stacks_merge(&g->stacks, &next->stacks);
    summary_probes_merge(&g->probes, &next->probes, g->info);
    summary_precise_merge(&g->precise, &next->precise);
    g->polled += next->polled;
    g->lost += next->lost;
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        g->sums[i] += next->sums[i];
    if (summary_memory_merge(&g->memory, &next->memory) != 0)
        return -ENOMEM;
    return summary_processes_merge(&g->processes, &next->processes);
}

bool gather_divides(const struct trace_info *info)
{
    uint32_t mode = info->sampling.mode;

    return mode != HR_MODE_OVERFLOW && mode != HR_MODE_IPI;
}
