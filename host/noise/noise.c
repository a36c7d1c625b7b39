/* Finds gaps and disturbances. */
#include "host/noise/noise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS 65536u
#define READING_FACTOR                                                        \
    4u /* so many times what reading took in the calibration is a disturbance \
        */
#define READING_TICKS_UNKNOWN 2000u /* without a calibration: a trapped RDPMC is no disturbance */

struct noise_cpu {
    bool sampled; /* since the last thing that explains why no sample came */
    bool idle; /* since idle_since, and no HR_REC_GAP said so */
    uint64_t time; /* of the last sample */
    uint64_t idle_since;
    uint64_t gap_until; /* what HR_REC_GAP covers */
    uint64_t call_ticks; /* the longest system call since the last sample */
    uint32_t call;
    bool seen;
};

int noise_init(struct noise *noise, const struct trace_scan *scan)
{
    memset(noise, 0, sizeof *noise);
    noise->info = &scan->info;
    noise->selection = &scan->selection;
    noise->kept = malloc(2ul * NOISE_KEPT_MAX * sizeof noise->kept[0]);
    noise->cpus = calloc(CPUS, sizeof noise->cpus[0]);
    if (waits_init(&noise->waits) != 0)
        return -ENOMEM;
    return noise->kept != NULL && noise->cpus != NULL ? 0 : -ENOMEM;
}

void noise_free(struct noise *noise)
{
    free(noise->kept);
    free(noise->cpus);
    waits_free(&noise->waits);
    memset(noise, 0, sizeof *noise);
}

static int compare(const void *a, const void *b)
{
    const struct noise_span *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return x->cause - y->cause;
}

/* Sorts, and drops the shortest of those that are more than may be kept. */
void noise_finish(struct noise *noise)
{
    qsort(noise->kept, noise->kept_count, sizeof noise->kept[0], compare);
    if (noise->kept_count > NOISE_KEPT_MAX) {
        noise->dropped += noise->kept_count - NOISE_KEPT_MAX;
        noise->kept_count = NOISE_KEPT_MAX;
    }
}

static void add(struct noise *noise, struct noise_span span)
{
    struct noise_sum *sum = &noise->sums[span.cause];
    uint64_t ns = trace_info_time_ns(noise->info, span.time);

    if (span.ticks < noise->least_ticks || ns < noise->selection->from_ns ||
        ns > noise->selection->to_ns)
        return;
    sum->count++;
    sum->longest = span.ticks > sum->longest ? span.ticks : sum->longest;
    if (__builtin_add_overflow(sum->ticks, span.ticks, &sum->ticks))
        sum->ticks = UINT64_MAX;
    noise->kept[noise->kept_count++] = span;
    if (noise->kept_count == 2 * NOISE_KEPT_MAX)
        noise_finish(noise);
}

/* The least time between samples that was to be expected: where they cost much, it is longer than
 * the interval. */
static uint64_t spacing(const struct trace_info *info)
{
    const char *text = trace_info_text(info, "sampling.spacing_ticks", "0");
    uint64_t least = strtoull(text, NULL, 10), interval = info->sampling.interval_ticks;

    return interval != 0 && least > interval && least <= UINT64_MAX / 2 ? least : interval;
}

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct noise *noise = context;
    struct noise_cpu *cpu = &noise->cpus[chunk->header.cpu];
    unsigned __int128 ticks =
        (unsigned __int128)noise->least_ns * noise->info->clock.ticks_per_second / 1000000000u;

    noise->least_ticks = ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
    noise->waits.least_ticks = noise->least_ticks;
    if (!continues)
        cpu->sampled = cpu->idle = false;
    if (chunk->header.time_last > noise->time_last)
        noise->time_last = chunk->header.time_last;
    return 0;
}

/* A sample of a clock's that came more than half an interval later than it was due. */
static void check_lateness(struct noise *noise, const struct trace_samples *samples,
                           const struct trace_slot *slot)
{
    struct noise_cpu *cpu = &noise->cpus[samples->chunk->cpu];
    uint64_t interval = noise->spacing, late;

    if (interval == 0 || !cpu->sampled || slot->time < cpu->time)
        return;
    late = slot->time - cpu->time;
    if (late <= interval + interval / 2)
        return;
    /* a system call that takes less than half of it explains nothing */
    add(noise,
        (struct noise_span){.time = cpu->time,
                            .ticks = late - interval,
                            .tid = slot->tid,
                            .cpu = samples->chunk->cpu,
                            .detail = cpu->call_ticks >= late / 2 ? cpu->call : 0,
                            .cause = cpu->call_ticks >= late / 2 ? NOISE_KERNEL : NOISE_LATE});
}

static void check_reading(struct noise *noise, const struct trace_samples *samples,
                          const struct trace_slot *slot)
{
    uint64_t usual = noise->info->calibration.read_ticks;
    uint64_t limit = usual != 0 ? usual * READING_FACTOR : READING_TICKS_UNKNOWN;

    if (slot->cost_ticks > limit)
        add(noise, (struct noise_span){.time = slot->time,
                                       .ticks = slot->cost_ticks - usual,
                                       .tid = slot->tid,
                                       .cpu = samples->chunk->cpu,
                                       .cause = NOISE_READING});
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct noise *noise = context;
    struct noise_cpu *cpu = &noise->cpus[samples->chunk->cpu];
    bool polled = (samples->slots[0].flags & HR_SAMPLE_POLLED) != 0;
    bool resumed = (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;

    waits_take_samples(&noise->waits, samples);
    noise->spacing = spacing(noise->info);
    noise->cpu_count += !cpu->seen;
    cpu->seen = true;
    for (uint32_t i = 0; i < samples->count; i++) {
        const struct trace_slot *slot = &samples->slots[i];

        check_reading(noise, samples, slot);
        if (polled)
            continue;
        if (!resumed)
            check_lateness(noise, samples, slot);
        cpu->time = slot->time;
        cpu->sampled = true;
        cpu->call_ticks = 0;
    }
    return 0;
}

static void take_gap(struct noise *noise, uint16_t number, const struct trace_record *record)
{
    static const uint8_t causes[] = {[HR_GAP_SLEEP] = NOISE_SLEEP,
                                     [HR_GAP_INPUT] = NOISE_INPUT,
                                     [HR_GAP_OUTPUT] = NOISE_OUTPUT,
                                     [HR_GAP_WAIT] = NOISE_WAIT,
                                     [HR_GAP_STEAL] = NOISE_STEAL};
    bool known;
    struct hr_rec_gap gap;

    if (!trace_body(record, &gap, sizeof gap, NULL, NULL) || gap.time_last < gap.time_first)
        return;
    known = gap.reason >= HR_GAP_SLEEP && gap.reason <= HR_GAP_STEAL;
    noise->cpus[number].sampled = false;
    noise->cpus[number].gap_until = gap.time_last;
    if (!trace_info_selects(noise->info, noise->selection, gap.tid, gap.time_first))
        return;
    add(noise, (struct noise_span){.time = gap.time_first,
                                   .ticks = gap.time_last - gap.time_first,
                                   .tid = gap.tid,
                                   .cpu = number,
                                   .cause = known ? causes[gap.reason] : NOISE_OTHER_GAP});
}

/* What is no thread's own belongs to no part of them. */
static bool of_all_threads(const struct noise *noise)
{
    return noise->selection->threads == NULL && noise->selection->pids == NULL;
}

/* A CPU without a thread, unless a gap says why it had none. */
static void take_switch(struct noise *noise, uint16_t number, const struct trace_record *record)
{
    struct noise_cpu *cpu = &noise->cpus[number];
    struct hr_rec_switch change;

    if (!trace_body(record, &change, sizeof change, NULL, NULL))
        return;
    waits_take_switch(&noise->waits, &change, noise->info, noise->selection);
    if (cpu->idle && change.from_tid == 0 && cpu->gap_until <= cpu->idle_since &&
        change.time > cpu->idle_since && of_all_threads(noise))
        add(noise, (struct noise_span){.time = cpu->idle_since,
                                       .ticks = change.time - cpu->idle_since,
                                       .cpu = number,
                                       .cause = NOISE_IDLE});
    cpu->sampled = false;
    cpu->idle = change.to_tid == 0;
    cpu->idle_since = change.time;
}

static void take_lost(struct noise *noise, uint16_t number, const struct trace_record *record)
{
    struct hr_rec_lost lost;

    if (!trace_body(record, &lost, sizeof lost, NULL, NULL) || lost.time_last < lost.time_first)
        return;
    noise->cpus[number].sampled = false;
    if (of_all_threads(noise))
        add(noise, (struct noise_span){.time = lost.time_first,
                                       .ticks = lost.time_last - lost.time_first,
                                       .detail = lost.count,
                                       .cpu = number,
                                       .cause = NOISE_LOST});
}

static void take_skipped(struct noise *noise, const struct trace_record *record)
{
    struct hr_rec_skipped skipped;

    if (trace_body(record, &skipped, sizeof skipped, NULL, NULL) &&
        __builtin_add_overflow(noise->skipped, skipped.count, &noise->skipped))
        noise->skipped = UINT64_MAX;
}

static void take_call(struct noise *noise, uint16_t number, const struct trace_record *record)
{
    struct noise_cpu *cpu = &noise->cpus[number];
    struct hr_rec_syscall call;

    if (!trace_body(record, &call, sizeof call, NULL, NULL))
        return;
    waits_take_call(&noise->waits, &call);
    if (call.duration_ticks < cpu->call_ticks)
        return;
    cpu->call = call.number;
    cpu->call_ticks = call.duration_ticks;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct noise *noise = context;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (record->type == HR_REC_GAP)
        take_gap(noise, chunk->header.cpu, record);
    else if (record->type == HR_REC_SWITCH)
        take_switch(noise, chunk->header.cpu, record);
    else if (record->type == HR_REC_LOST)
        take_lost(noise, chunk->header.cpu, record);
    else if (record->type == HR_REC_SKIPPED)
        take_skipped(noise, record);
    else if (record->type == HR_REC_SYSCALL)
        take_call(noise, chunk->header.cpu, record);
    noise->period_changes += record->type == HR_REC_PERIOD;
    return 0;
}

const struct trace_visitor noise_visitor = {
    .stacks = TRACE_SCAN_STACKS,
    .chunk = take_chunk,
    .samples = take_samples,
    .record = take_record,
};

const char *noise_cause_name(enum noise_cause cause)
{
    static const char *const names[] = {
        [NOISE_SLEEP] = "sleep",   [NOISE_INPUT] = "input",     [NOISE_OUTPUT] = "output",
        [NOISE_WAIT] = "wait",     [NOISE_OTHER_GAP] = "other", [NOISE_IDLE] = "idle",
        [NOISE_KERNEL] = "kernel", [NOISE_LATE] = "late",       [NOISE_READING] = "reading",
        [NOISE_LOST] = "lost",     [NOISE_STEAL] = "steal",
    };

    return names[cause];
}

bool noise_is_virtual(const struct trace_info *info)
{
    return info->clock.method == HR_CLOCK_VIRTUAL &&
           (info->sampling.flags & HR_SAMPLING_INEXACT) == 0 &&
           (info->sampling.flags & HR_SAMPLING_EMULATED) != 0;
}
