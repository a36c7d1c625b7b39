/* Gathers distributions in one pass. */
#include "host/hist/hist.h"

#include <errno.h>
#include <string.h>

#include "lib/program/syscall_names.h"

#define ANY UINT32_MAX
#define CALL_PREFIX "syscall:"

static void add(struct hist_subject *subject, uint64_t value)
{
    histogram_add(&subject->values, value);
    if (value < subject->least)
        subject->least = value;
    if (__builtin_add_overflow(subject->sum, value, &subject->sum))
        subject->sum = UINT64_MAX;
}

/* How long after the grid point before it a sample was taken. */
static void add_lateness(const struct hist *hist, struct hist_subject *subject,
                         const struct trace_samples *samples)
{
    uint64_t start = hist->info->clock.start_ticks, interval = hist->info->sampling.interval_ticks;

    if (interval == 0 || (samples->slots[0].flags & (HR_SAMPLE_POLLED | HR_SAMPLE_RESUMED)) != 0)
        return;
    for (uint32_t i = 0; i < samples->count; i++)
        if (samples->slots[i].time >= start)
            add(subject, (samples->slots[i].time - start) % interval);
}

static void add_event(struct hist_subject *subject, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;
    uint32_t i = 0;

    if (subject->number >= samples->event_count)
        return;
    if ((samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0)
        return; /* what was counted in a pause is no sample's */
    for (; i < samples->count; i++) {
        add(subject,
            samples->slots[i].counters[subject->number] - previous->counters[subject->number]);
        previous = &samples->slots[i];
    }
}

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct hist *hist = context;

    return gather_visitor.chunk(&hist->gather, chunk, continues);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct hist *hist = context;

    for (uint32_t i = 0; i < hist->subject_count; i++) {
        if (hist->subjects[i].kind == HIST_LATENESS)
            add_lateness(hist, &hist->subjects[i], samples);
        else if (hist->subjects[i].kind == HIST_EVENT)
            add_event(&hist->subjects[i], samples);
    }
    return gather_visitor.samples(&hist->gather, samples);
}

static bool selected(const struct hist *hist, uint64_t time, uint32_t tid)
{
    uint64_t ns = trace_info_time_ns(hist->info, time);

    return ns >= hist->selection->from_ns && ns <= hist->selection->to_ns &&
           trace_info_selects(hist->info, hist->selection, tid, time);
}

static void take_call(struct hist *hist, const struct trace_record *record)
{
    struct hr_rec_syscall call;

    if (!trace_body(record, &call, sizeof call, NULL, NULL) || !selected(hist, call.time, call.tid))
        return;
    for (uint32_t i = 0; i < hist->subject_count; i++)
        if (hist->subjects[i].kind == HIST_SYSCALL &&
            (hist->subjects[i].number == ANY || hist->subjects[i].number == call.number))
            add(&hist->subjects[i], call.duration_ticks);
}

static void take_gap(struct hist *hist, const struct trace_record *record)
{
    struct hr_rec_gap gap;

    if (!trace_body(record, &gap, sizeof gap, NULL, NULL) || gap.time_last < gap.time_first ||
        !selected(hist, gap.time_first, gap.tid))
        return;
    for (uint32_t i = 0; i < hist->subject_count; i++)
        if (hist->subjects[i].kind == HIST_GAP)
            add(&hist->subjects[i], gap.time_last - gap.time_first);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct hist *hist = context;

    if (chunk->header.type == HR_CHUNK_DATA && record->type == HR_REC_SYSCALL)
        take_call(hist, record);
    else if (chunk->header.type == HR_CHUNK_DATA && record->type == HR_REC_GAP)
        take_gap(hist, record);
    return gather_visitor.record(&hist->gather, chunk, record);
}

const struct trace_visitor hist_visitor = {
    .chunk = take_chunk,
    .samples = take_samples,
    .record = take_record,
};

int hist_init(struct hist *hist, const struct trace_scan *scan)
{
    memset(hist, 0, sizeof *hist);
    hist->info = &scan->info;
    hist->selection = &scan->selection;
    return gather_init(&hist->gather, hist->info, hist->selection);
}

void hist_free(struct hist *hist)
{
    for (uint32_t i = 0; i < hist->subject_count; i++)
        histogram_free(&hist->subjects[i].values);
    gather_free(&hist->gather);
}

int hist_add(struct hist *hist, const char *name)
{
    static const char *const kinds[] = {[HIST_INTERVAL] = "interval",
                                        [HIST_COST] = "cost",
                                        [HIST_LATENESS] = "lateness",
                                        [HIST_SYSCALL] = "syscall",
                                        [HIST_GAP] = "gap"};
    struct hist_subject *subject = &hist->subjects[hist->subject_count];
    struct hist_subject new = {
        .name = name, .kind = HIST_EVENT, .number = ANY, .least = UINT64_MAX};
    int call;

    if (hist->subject_count == HIST_SUBJECTS_MAX)
        return -E2BIG;
    for (uint32_t i = 0; i < HIST_EVENT; i++)
        if (strcmp(kinds[i], name) == 0)
            new.kind = (enum hist_kind)i;
    if (strncmp(name, CALL_PREFIX, strlen(CALL_PREFIX)) == 0) {
        call = syscall_number(name + strlen(CALL_PREFIX));
        if (call < 0)
            return -EINVAL;
        new.kind = HIST_SYSCALL;
        new.number = (uint32_t)call;
    }
    *subject = new;
    hist->subject_count++;
    return histogram_init(&subject->values);
}

const struct hist_subject *hist_resolve(struct hist *hist)
{
    for (uint32_t i = 0; i < hist->subject_count; i++) {
        struct hist_subject *subject = &hist->subjects[i];
        int event = -1;

        if (subject->kind != HIST_EVENT || subject->number != ANY)
            continue;
        event = trace_info_find_event(hist->info, subject->name);
        if (event < 0)
            return subject;
        subject->number = (uint32_t)event;
    }
    return NULL;
}

/* Moves a histogram that was gathered elsewhere, in ticks. */
static void take_over(struct hist_subject *subject, const struct histogram *from)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        unsigned __int128 sum = (unsigned __int128)from->buckets[i] * histogram_bucket_value(i);

        if (from->buckets[i] == 0)
            continue;
        if (subject->least == UINT64_MAX)
            subject->least = histogram_bucket_value(i);
        sum += subject->sum;
        subject->sum = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
        histogram_add_many(&subject->values, histogram_bucket_value(i), from->buckets[i]);
    }
    subject->values.largest = from->largest;
}

void hist_finish(struct hist *hist)
{
    for (uint32_t i = 0; i < hist->subject_count; i++) {
        if (hist->subjects[i].kind == HIST_INTERVAL)
            take_over(&hist->subjects[i], &hist->gather.intervals);
        else if (hist->subjects[i].kind == HIST_COST)
            take_over(&hist->subjects[i], &hist->gather.costs);
    }
}

/* The first value of the range that a value lies in, with 2^bits ranges an octave. */
static uint64_t range_start(uint64_t value, int bits)
{
    uint32_t exponent = value != 0 ? 63u - (uint32_t)__builtin_clzll(value) : 0;

    if (exponent <= (uint32_t)bits)
        return value;
    return value >> (exponent - (uint32_t)bits) << (exponent - (uint32_t)bits);
}

static uint64_t range_end(uint64_t start, int bits)
{
    uint32_t exponent = start != 0 ? 63u - (uint32_t)__builtin_clzll(start) : 0;

    return exponent <= (uint32_t)bits ? start : start + (1ull << (exponent - (uint32_t)bits)) - 1;
}

static uint32_t ranges_of(const struct hist_subject *subject, struct hist_range *ranges,
                          uint32_t room, int bits)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t start = range_start(histogram_bucket_value(i), bits);

        if (subject->values.buckets[i] == 0)
            continue;
        while (count != 0 && ranges[count - 1].to + 1 <= start && ranges[count - 1].from != start) {
            uint64_t next = ranges[count - 1].to + 1; /* also those that are empty */

            if (count == room)
                return room + 1;
            ranges[count++] = (struct hist_range){next, range_end(next, bits), 0};
        }
        if (count == 0)
            ranges[count++] = (struct hist_range){start, range_end(start, bits), 0};
        ranges[count - 1].count += subject->values.buckets[i];
    }
    return count;
}

uint32_t hist_ranges(const struct hist_subject *subject, struct hist_range ranges[HIST_RANGES_MAX],
                     uint32_t wanted)
{
    for (int bits = HISTOGRAM_FRACTION_BITS; bits > 0; bits--) {
        uint32_t count = ranges_of(subject, ranges, wanted, bits);

        if (count <= wanted)
            return count;
    }
    return ranges_of(subject, ranges, HIST_RANGES_MAX, 0);
}
