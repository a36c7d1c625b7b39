/* Adds samples to a trace's chunks, as differences from the sample before (docs/format.md); the
 * guest runs this for every sample. */
#include "lib/trace/trace_writer.h"

#include <errno.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_code.h"

#define SAMPLE_ROOM (TRACE_RUN_HEAD_BYTES + TRACE_SAMPLE_BYTES_MAX + TRACE_SAMPLE_SLACK)
#define RUN_KEY_MASK 0x00ff0000ffffffffull /* without cost_ticks and kind */

_Static_assert(offsetof(struct trace_slot, flags) - offsetof(struct trace_slot, tid) == 6,
               "run_key");
_Static_assert(TRACE_CHUNK_BYTES_MIN >=
                   sizeof(struct hr_chunk_header) + sizeof(struct hr_record_header) +
                       sizeof(struct hr_rec_base) + sizeof(uint64_t) * HR_EVENTS_MAX + SAMPLE_ROOM,
               "the first sample of an empty chunk fits");

/* Returns what all samples of a run share: thread and flags.  It is one load, because the guest
 * does this for every sample. */
static inline uint64_t run_key(const struct trace_slot *sample)
{
    return bytes_load64(&sample->tid) & RUN_KEY_MASK;
}

static void open_run(struct trace_writer *w, const struct trace_slot *sample, bool narrow)
{
    w->run = w->used;
    w->run_samples = 0;
    w->run_tid = sample->tid;
    w->run_flags = sample->flags;
    w->run_type = narrow ? HR_REC_SAMPLES : HR_REC_SAMPLES_WIDE;
    w->narrow_key = narrow ? run_key(sample) : TRACE_NO_RUN;
    w->narrow_streak = 0;
    w->used += TRACE_RUN_HEAD_BYTES;
    w->header.record_count++;
}

/* A narrow run is far from TRACE_BODY_BYTES_MAX with TRACE_RUN_SAMPLES_MAX samples. */
static inline bool narrow_run_takes(const struct trace_writer *w, const struct trace_slot *sample)
{
    return w->narrow_key == run_key(sample) && w->run_samples != TRACE_RUN_SAMPLES_MAX;
}

static bool run_takes(struct trace_writer *w, const struct trace_slot *sample, bool narrow)
{
    if (!w->run || w->run_tid != sample->tid || w->run_flags != sample->flags)
        return false;
    if (w->run_type > HR_REC_SAMPLES_WIDE || w->run_samples == TRACE_RUN_SAMPLES_MAX ||
        w->used - w->run + TRACE_SAMPLE_BYTES_MAX > TRACE_BODY_BYTES_MAX)
        return false;
    if (w->run_type == HR_REC_SAMPLES)
        return narrow;
    w->narrow_streak = narrow ? (uint8_t)(w->narrow_streak + 1) : 0;
    return w->narrow_streak <= TRACE_NARROW_STREAK_MAX;
}

/* A sample as a narrow run holds it.  Fields that are 0 have no bytes, and most of them are 0. */
struct narrow_fields {
    uint8_t *at; /* of the next field */
    uint32_t codes; /* the control word */
    uint64_t all; /* or-ed together */
};

/* Has the compiler use a value where it is in memory, again, in place of a copy in a register. */
#define IN_MEMORY(value) __asm__("" : "+m"(value))

/* Bytes of a field by its highest bit; 3 also for one that is too large for a narrow run. */
static const uint8_t narrow_codes[64] = {
    1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};

/* Writes field number `i`, which is not 0, in as many bytes as it needs, if it is below
 * TRACE_NARROW_LIMIT, and keeps it in case it is not.  The store is wider than the field; the next
 * one overwrites the excess. */
static inline __attribute__((always_inline)) void put_narrow(struct narrow_fields *f, uint32_t i,
                                                             uint64_t field, uint64_t *fields)
{
    uint64_t code = narrow_codes[63 ^ (uint32_t)__builtin_clzll(field)];

    bytes_store32(f->at, (uint32_t)field);
    f->at += code;
    f->all |= field;
    f->codes |= (uint32_t)code << (2 * i);
    fields[i] = field;
}

static inline void put_control(uint8_t *at, uint32_t codes, uint32_t control_bytes)
{
    if (__builtin_expect(control_bytes == 2, 1)) { /* two to five events */
        bytes_store16(at, (uint16_t)codes);
        return;
    }
    for (uint32_t i = 0; i < control_bytes; i++)
        at[i] = (uint8_t)(codes >> (8 * i));
}

static uint8_t *put_wide(uint8_t *at, const uint64_t *fields, uint32_t event_count)
{
    uint32_t control_bytes = trace_code_control_bytes(event_count);
    uint8_t *p = at + control_bytes;
    uint32_t codes = 0;

    for (uint32_t i = 0; i < TRACE_FIELDS_FIXED + event_count; i++) {
        uint64_t value = fields[i];
        uint32_t code = (uint32_t)(value != 0) + (value > 0xffff) + (value > 0xffffffff);

        bytes_store64(p, value);
        p += (1u << code) & ~1u;
        codes |= code << (2 * i);
    }
    put_control(at, codes, control_bytes);
    return p;
}

/* Advances the state to sample `s`, whose number of events the caller may know better than w, and
 * writes it at `f->at` as if it belonged to a narrow run. */
static inline __attribute__((always_inline)) void
take_differences(struct trace_writer *w, const struct trace_slot *s, struct narrow_fields *f,
                 uint64_t *fields, uint32_t event_count)
{
    uint64_t interval = s->time - w->previous.time;
    uint64_t moved = s->ip - w->previous.ip;
    uint64_t costlier = (uint64_t)s->cost_ticks - w->previous.cost_ticks;

    if (interval != w->interval) {
        put_narrow(f, 0, trace_code_zigzag(interval - w->interval), fields);
        w->interval = interval;
    }
    if (moved)
        put_narrow(f, 1, trace_code_zigzag(moved), fields);
    if (costlier) {
        put_narrow(f, 2, trace_code_zigzag(costlier), fields);
        w->previous.cost_ticks = s->cost_ticks;
    }
    w->previous.time = s->time;
    w->previous.ip = s->ip;
#pragma GCC unroll 5
    for (uint32_t i = 0; i < event_count; i++) {
        uint64_t increment = (s->counters[i] - w->previous.counters[i]) & w->ranges[i];

        IN_MEMORY(w->previous.counters[i]);
        w->previous.counters[i] += increment;
        if (increment == w->increments[i])
            continue;
        IN_MEMORY(w->increments[i]);
        put_narrow(f, TRACE_FIELDS_FIXED + i, trace_code_zigzag(increment - w->increments[i]),
                   fields);
        w->increments[i] = increment;
    }
}

/* Adds a sample that begins a run or belongs to a wide one.  Only those fields are there whose code
 * is not 0.  Returns where it ends. */
static __attribute__((noinline)) uint8_t *place(struct trace_writer *w,
                                                const struct trace_slot *sample, uint64_t *fields,
                                                uint32_t codes, bool narrow)
{
    const uint32_t event_count = w->event_count;
    struct narrow_fields f = {0};
    uint8_t *at;

    for (uint32_t i = 0; i < TRACE_FIELDS_FIXED + event_count; i++)
        if (!(codes >> (2 * i) & 3))
            fields[i] = 0;
    if (!run_takes(w, sample, narrow)) {
        trace_writer_close_run(w);
        open_run(w, sample, narrow);
    }
    at = w->buffer + w->used;
    if (w->run_type != HR_REC_SAMPLES)
        return put_wide(at, fields, event_count);
    f.at = at + w->control_bytes;
    for (uint32_t i = 0; i < TRACE_FIELDS_FIXED + event_count; i++)
        if (fields[i])
            put_narrow(&f, i, fields[i], fields);
    put_control(at, f.codes, w->control_bytes);
    return f.at;
}

static inline __attribute__((always_inline)) void
add_sample(struct trace_writer *w, const struct trace_slot *sample, uint32_t event_count)
{
    const uint32_t control_bytes = trace_code_control_bytes(event_count);
    uint8_t *at = w->buffer + w->used;
    struct narrow_fields f = {.at = at + control_bytes};
    uint64_t fields[TRACE_FIELDS_MAX];
    bool narrow;

    take_differences(w, sample, &f, fields, event_count);
    narrow = f.all < TRACE_NARROW_LIMIT;
    if (__builtin_expect(narrow && narrow_run_takes(w, sample), 1))
        put_control(at, f.codes, control_bytes);
    else
        f.at = place(w, sample, fields, f.codes, narrow);
    w->used = (uint32_t)(f.at - w->buffer);
    w->run_samples++;
    trace_writer_note_time(w, sample->time);
}

static const struct trace_slot_stack *stack_of(const struct trace_writer *w,
                                               const struct trace_slot *sample)
{
    const uint8_t *slot = (const uint8_t *)sample;

    return (const struct trace_slot_stack *)(const void *)(slot + w->stack_offset);
}

static const struct hr_access *access_of(const struct trace_writer *w,
                                         const struct trace_slot *sample)
{
    const uint8_t *slot = (const uint8_t *)sample;

    return (const struct hr_access *)(const void *)(slot + offsetof(struct trace_slot, counters) +
                                                    8 * (size_t)w->event_count);
}

static bool has_room(const struct trace_writer *w, const struct trace_slot *sample)
{
    uint64_t needed = SAMPLE_ROOM;

    if (w->stacks != NULL)
        needed += trace_stacks_bound(w->stacks, stack_of(w, sample));
    if (w->accesses != NULL)
        needed += trace_accesses_bound(w->accesses);
    return w->capacity - w->used >= needed;
}

/* Closes runs early if the records that follow them would grow too large.  The exact size is known
 * only after that, so there may be room then. */
static bool make_room(struct trace_writer *w, const struct trace_slot *sample)
{
    if (has_room(w, sample))
        return true;
    trace_writer_close_run(w);
    return has_room(w, sample);
}

/* Adds a run of one HR_SAMPLE_ASIDE, after which the state is what it was before. */
static int add_aside(struct trace_writer *w, const struct trace_slot *sample)
{
    const struct trace_slot_stack *stack = stack_of(w, sample);
    struct trace_slot previous = w->previous, aside = previous;
    uint64_t interval = w->interval, increments[HR_EVENTS_MAX];

    if (!make_room(w, sample))
        return -ENOSPC;
    memcpy(increments, w->increments, sizeof increments);
    aside.time = sample->time; /* field by field: a small slot is half the struct */
    aside.ip = sample->ip;
    aside.tid = sample->tid;
    aside.flags = sample->flags;
    aside.cost_ticks = 0;
    add_sample(w, &aside, w->event_count);
    trace_stacks_add(w->stacks, stack);
    trace_writer_close_run(w);
    w->previous = previous;
    w->interval = interval;
    memcpy(w->increments, increments, sizeof increments);
    return 0;
}

static int add_with_more(struct trace_writer *w, const struct trace_slot *sample)
{
    if (sample->flags & HR_SAMPLE_ASIDE)
        return add_aside(w, sample);
    if (!make_room(w, sample))
        return -ENOSPC;
    add_sample(w, sample, w->event_count); /* it may close the run before */
    if (w->stacks != NULL)
        trace_stacks_add(w->stacks, stack_of(w, sample));
    if (w->accesses != NULL)
        trace_accesses_add(w->accesses, access_of(w, sample));
    return 0;
}

static uint32_t samples_with_more(struct trace_writer *w, const void *slots, size_t slot_bytes,
                                  uint32_t count)
{
    const uint8_t *slot = slots;
    uint32_t added = 0;

    for (; added < count; added++, slot += slot_bytes) {
        const struct trace_slot *sample = (const struct trace_slot *)(const void *)slot;
        if (sample->kind != 0 || add_with_more(w, sample) != 0)
            break;
    }
    return added;
}

static inline __attribute__((always_inline)) uint32_t add_samples(struct trace_writer *w,
                                                                  const void *slots,
                                                                  size_t slot_bytes, uint32_t count,
                                                                  uint32_t event_count)
{
    const uint8_t *slot = slots;
    uint32_t added = 0;

    for (; added < count && w->capacity - w->used >= SAMPLE_ROOM; added++) {
        const struct trace_slot *sample = (const struct trace_slot *)(const void *)slot;
        if (sample->kind != 0)
            break;
        add_sample(w, sample, event_count);
        slot += slot_bytes;
    }
    return added;
}

/* Few events, as most runs have, have loops of their own: a third fewer instructions. */
uint32_t trace_writer_samples(struct trace_writer *w, const void *slots, size_t slot_bytes,
                              uint32_t count)
{
    if (trace_writer_has_more(w))
        return samples_with_more(w, slots, slot_bytes, count);
    switch (w->event_count) {
    case 1:
        return add_samples(w, slots, slot_bytes, count, 1);
    case 2:
        return add_samples(w, slots, slot_bytes, count, 2);
    case 3:
        return add_samples(w, slots, slot_bytes, count, 3);
    case 4:
        return add_samples(w, slots, slot_bytes, count, 4);
    case 5:
        return add_samples(w, slots, slot_bytes, count, 5);
    default:
        return add_samples(w, slots, slot_bytes, count, w->event_count);
    }
}

int trace_writer_sample(struct trace_writer *w, const struct trace_slot *sample)
{
    if (trace_writer_has_more(w))
        return add_with_more(w, sample);
    if (w->capacity - w->used < SAMPLE_ROOM)
        return -ENOSPC;
    add_sample(w, sample, w->event_count);
    return 0;
}

void trace_writer_skip(struct trace_writer *w, const struct trace_slot *sample)
{
    w->previous.time = sample->time;
    w->previous.ip = sample->ip;
    w->previous.cost_ticks = sample->cost_ticks;
    for (uint32_t i = 0; i < w->event_count; i++)
        w->previous.counters[i] += (sample->counters[i] - w->previous.counters[i]) & w->ranges[i];
}
