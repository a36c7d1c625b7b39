/* Counts samples and records into bins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/timeline/timeline_bins.h"

#define CPUS 65536u /* that a chunk can name */
#define RUNS_MAX 8u /* stretches of running between two samples; more are joined */

struct timeline_cpu {
    bool seen; /* `time` and `counters` are those of the last sample */
    bool running; /* `tid` does, since `since` */
    uint32_t tid;
    uint64_t time;
    uint64_t since;
    uint64_t spread_to; /* nothing before is split over bins again: bounds the work */
    struct timeline_stretch
        runs[RUNS_MAX]; /* since the last sample, but for the one that still lasts */
    uint32_t run_count;
    uint64_t counters[HR_EVENTS_MAX];
};

int timeline_count_init(struct timeline *t)
{
    t->cpus = calloc(CPUS, sizeof t->cpus[0]);
    return t->cpus != NULL ? 0 : -ENOMEM;
}

/* The state of a CPU that did something. */
static struct timeline_cpu *take_cpu(struct timeline *t, uint32_t number)
{
    if (t->cpu_end <= number)
        t->cpu_end = number + 1;
    return &t->cpus[number];
}

static struct timeline_group *group_for(struct timeline *t, uint32_t cpu, uint32_t tid)
{
    if (t->per == TIMELINE_PER_PROCESS)
        return timeline_group(t, trace_processes_of(&t->info->processes, tid, UINT64_MAX));
    return timeline_group(t, t->per == TIMELINE_PER_THREAD ? tid : cpu);
}

/* A thread ran on a CPU in a stretch that was not counted before. */
static void count_run(struct timeline *t, uint32_t number, struct timeline_stretch run)
{
    uint32_t tid = t->cpus[number].tid;
    struct timeline_group *group =
        trace_info_selects(t->info, t->selection, tid, run.to) ? group_for(t, number, tid) : NULL;

    if (group != NULL && group->key == TIMELINE_REST)
        timeline_put(t, group, TIMELINE_RUN_TICKS, run.to, run.to - run.from);
    else if (group != NULL)
        timeline_spread(t, group, TIMELINE_RUN_TICKS, run, run.to - run.from);
}

static void add_run(struct timeline_cpu *cpu, struct timeline_stretch run)
{
    if (cpu->run_count == RUNS_MAX)
        cpu->runs[RUNS_MAX - 1].to = run.to;
    else
        cpu->runs[cpu->run_count++] = run;
}

/* What runs on the CPU ran until `time`. */
static void close_run(struct timeline *t, uint32_t number, uint64_t time)
{
    struct timeline_cpu *cpu = &t->cpus[number];
    struct timeline_stretch run = {cpu->since > cpu->spread_to ? cpu->since : cpu->spread_to, time};

    if (!cpu->running || time <= cpu->since)
        return;
    cpu->since = time;
    if (run.to <= run.from)
        return;
    count_run(t, number, run);
    cpu->spread_to = run.to;
    if (cpu->seen && run.from < cpu->time)
        run.from = cpu->time;
    if (run.to > run.from)
        add_run(cpu, run);
}

/* Splits what one event counted over the stretches in which the CPU ran since the last sample. */
static void spread_event(struct timeline *t, struct timeline_group *group,
                         const struct timeline_cpu *cpu, uint32_t event, uint64_t amount)
{
    uint64_t whole = 0, before = 0;

    for (uint32_t i = 0; i < cpu->run_count; i++)
        whole += cpu->runs[i].to - cpu->runs[i].from;
    for (uint32_t i = 0; i < cpu->run_count; i++) {
        uint64_t until = before + cpu->runs[i].to - cpu->runs[i].from;

        timeline_spread(t, group, TIMELINE_EVENTS + event, cpu->runs[i],
                        timeline_part(amount, until, whole) - timeline_part(amount, before, whole));
        before = until;
    }
}

/* The CPU counted up to `counters` at `time`; splits the rises. */
static void count_events(struct timeline *t, struct timeline_group *group,
                         const struct timeline_cpu *cpu, uint64_t time, const uint64_t *counters)
{
    bool spreads = cpu->run_count != 0 && group->key != TIMELINE_REST;

    for (uint32_t i = 0; i < t->event_count; i++) {
        uint64_t rise = counters[i] - cpu->counters[i];

        if (rise != 0 && spreads)
            spread_event(t, group, cpu, i, rise);
        else if (rise != 0)
            timeline_put(t, group, TIMELINE_EVENTS + i, time, rise);
    }
}

void timeline_chunk(struct timeline *t, const struct trace_chunk *chunk, bool continues)
{
    if (!continues) /* which threads ran is not known: the next sample says which ran last */
        t->cpus[chunk->header.cpu].running = false;
}

/* Samples were passed over, those of other threads: what ran then is none of these. */
static void forget_runs(struct timeline_cpu *cpu, uint64_t before)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cpu->run_count; i++) {
        struct timeline_stretch run = cpu->runs[i];

        if (run.from < before)
            run.from = before;
        if (run.to > run.from)
            cpu->runs[kept++] = run;
    }
    cpu->run_count = kept;
}

/* Takes the sample before, unless it is the last that was seen: the first sample of the trace, or
 * of what is selected.  Where chunks are missing, counts start from the last sample that was seen.
 */
static void begin_samples(struct timeline *t, const struct trace_samples *samples)
{
    struct timeline_cpu *cpu = &t->cpus[samples->chunk->cpu];
    const struct trace_slot *slot = &samples->slots[0], *previous = samples->previous;
    uint64_t start = t->info->clock.start_ticks;

    if (!cpu->seen || (!selection_is_all(t->selection) && previous->time != cpu->time)) {
        cpu->time = previous->time > start ? previous->time : start;
        memcpy(cpu->counters, previous->counters, t->event_count * sizeof cpu->counters[0]);
        cpu->seen = true;
        forget_runs(cpu, cpu->time);
    }
    if (cpu->running && cpu->tid == slot->tid)
        return;
    if (cpu->running)
        close_run(t, samples->chunk->cpu, slot->time);
    else
        cpu->since = cpu->time;
    cpu->running = true;
    cpu->tid = slot->tid;
}

/* Samples in the same bin as the one before, of a thread that ran on, are counted at once. */
static uint32_t take_quickly(struct timeline *t, struct timeline_group *group,
                             struct timeline_cpu *cpu, const struct trace_samples *samples,
                             uint32_t n)
{
    uint64_t bin = timeline_bin_of(t, cpu->time);
    uint64_t edge = bin + 1 < t->bins ? timeline_bin_ticks(t, bin + 1) : UINT64_MAX;
    uint64_t *words = group->words + bin * t->words, time = cpu->time;
    uint32_t first = n;

    if (cpu->run_count != 0 || cpu->since != cpu->time || cpu->time < t->begin ||
        cpu->spread_to > cpu->time)
        return n;
    for (; n < samples->count && samples->slots[n].time >= time && samples->slots[n].time < edge;
         n++)
        time = samples->slots[n].time;
    if (n == first)
        return n;
    words[TIMELINE_SAMPLES] += n - first;
    words[TIMELINE_RUN_TICKS] += time - cpu->time;
    for (uint32_t i = 0; i < t->event_count; i++)
        words[TIMELINE_EVENTS + i] += samples->slots[n - 1].counters[i] - cpu->counters[i];
    memcpy(cpu->counters, samples->slots[n - 1].counters, t->event_count * sizeof cpu->counters[0]);
    cpu->time = cpu->since = cpu->spread_to = time;
    return n;
}

void timeline_samples(struct timeline *t, const struct trace_samples *samples)
{
    uint16_t number = samples->chunk->cpu;
    struct timeline_cpu *cpu = take_cpu(t, number);
    struct timeline_group *group = group_for(t, number, samples->slots[0].tid);

    if (group == NULL || samples->event_count != t->event_count)
        return;
    begin_samples(t, samples);
    for (uint32_t n = 0; n < samples->count;) {
        const struct trace_slot *slot;

        n = take_quickly(t, group, cpu, samples, n);
        if (n == samples->count)
            break;
        slot = &samples->slots[n++];
        close_run(t, number, slot->time);
        timeline_put(t, group, TIMELINE_SAMPLES, slot->time, 1);
        count_events(t, group, cpu, slot->time, slot->counters);
        memcpy(cpu->counters, slot->counters, t->event_count * sizeof cpu->counters[0]);
        cpu->time = slot->time;
        cpu->run_count = 0;
    }
}

static void take_switch(struct timeline *t, uint32_t number, const struct trace_record *record)
{
    struct timeline_cpu *cpu = take_cpu(t, number);
    struct hr_rec_switch change;

    if (!trace_body(record, &change, sizeof change, NULL, NULL))
        return;
    if (!cpu->running && change.from_tid != 0) { /* it ran before what is known */
        cpu->running = true;
        cpu->tid = change.from_tid;
        cpu->since = cpu->seen ? cpu->time : change.time;
    }
    close_run(t, number, change.time);
    cpu->running = change.to_tid != 0;
    cpu->tid = change.to_tid;
    cpu->since = change.time;
}

static void take_gap(struct timeline *t, uint32_t number, const struct trace_record *record)
{
    struct timeline_cpu *cpu = take_cpu(t, number);
    struct hr_rec_gap gap;

    if (!trace_body(record, &gap, sizeof gap, NULL, NULL))
        return;
    close_run(t, number, gap.time_first);
    if (cpu->since < gap.time_last)
        cpu->since = gap.time_last;
}

static void take_lost(struct timeline *t, uint32_t number, const struct trace_record *record)
{
    struct timeline_group *group = t->per == TIMELINE_PER_CPU ? timeline_group(t, number) : NULL;
    struct hr_rec_lost lost;

    if (group == NULL || !trace_body(record, &lost, sizeof lost, NULL, NULL))
        return;
    timeline_put(t, group, TIMELINE_LOST, lost.time_last, lost.count);
}

static void take_skipped(struct timeline *t, uint32_t number, const struct trace_record *record)
{
    struct timeline_group *group = t->per == TIMELINE_PER_CPU ? timeline_group(t, number) : NULL;
    struct hr_rec_skipped skipped;

    if (group == NULL || !trace_body(record, &skipped, sizeof skipped, NULL, NULL))
        return;
    t->any_skipped = true;
    if (skipped.time_first < skipped.time_last)
        timeline_spread(t, group, TIMELINE_SKIPPED,
                        (struct timeline_stretch){skipped.time_first, skipped.time_last},
                        skipped.count);
    else
        timeline_put(t, group, TIMELINE_SKIPPED, skipped.time_last, skipped.count);
}

void timeline_record(struct timeline *t, const struct trace_chunk *chunk,
                     const struct trace_record *record)
{
    if (chunk->header.type != HR_CHUNK_DATA)
        return;
    if (record->type == HR_REC_SWITCH)
        take_switch(t, chunk->header.cpu, record);
    else if (record->type == HR_REC_GAP)
        take_gap(t, chunk->header.cpu, record);
    else if (record->type == HR_REC_LOST)
        take_lost(t, chunk->header.cpu, record);
    else if (record->type == HR_REC_SKIPPED)
        take_skipped(t, chunk->header.cpu, record);
}

/* What a single CPU counted after its last sample is the rest up to the totals; of several it is
 * not known whose it is. */
static void finish_events(struct timeline *t, uint64_t end)
{
    struct timeline_cpu *only = NULL;
    uint64_t totals[HR_EVENTS_MAX] = {0};
    uint32_t seen = 0, number = 0;
    struct timeline_group *group;

    for (uint32_t i = 0; i < t->cpu_end; i++) {
        if (!t->cpus[i].seen)
            continue;
        only = &t->cpus[i];
        number = i;
        seen++;
        for (uint32_t e = 0; e < t->event_count; e++)
            t->unplaced[e] -= only->counters[e];
    }
    for (uint32_t e = 0; e < t->event_count; e++) {
        if (!t->info->events[e].has_total)
            t->unplaced[e] = 0;
        else
            t->unplaced[e] += totals[e] = t->info->events[e].total;
        if ((int64_t)t->unplaced[e] < 0) /* the totals contradict the samples */
            t->unplaced[e] = 0;
        totals[e] = only != NULL ? only->counters[e] + t->unplaced[e] : 0;
    }
    if (seen != 1)
        return;
    memset(t->unplaced, 0, sizeof t->unplaced);
    group = group_for(t, number, only->tid);
    if (group != NULL)
        count_events(t, group, only, end > only->time ? end : only->time, totals);
}

/* Threads are in the order of their processes. */
static int compare(const void *a, const void *b, void *context)
{
    const struct timeline_group *x = a, *y = b;
    const struct timeline *t = context;

    if (t->per == TIMELINE_PER_THREAD && x->key != TIMELINE_REST && y->key != TIMELINE_REST) {
        uint32_t p = trace_processes_of(&t->info->processes, x->key, UINT64_MAX);
        uint32_t q = trace_processes_of(&t->info->processes, y->key, UINT64_MAX);

        if (p != q)
            return p < q ? -1 : 1;
    }
    return x->key < y->key ? -1 : x->key > y->key;
}

void timeline_finish(struct timeline *t)
{
    uint64_t end = t->info->has_exit ? t->info->exit.time : 0;

    for (uint32_t i = 0; i < t->cpu_end; i++) {
        struct timeline_cpu *cpu = &t->cpus[i];

        if (cpu->running)
            close_run(t, i, end > cpu->time ? end : cpu->time);
    }
    if (selection_is_all(t->selection))
        finish_events(t, end);
    qsort_r(t->groups, t->group_count, sizeof t->groups[0], compare, t);
}
