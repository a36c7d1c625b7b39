/* Encodes hits of probes into the chunk of a trace writer. */
#include "lib/trace/trace_probes.h"

#include <errno.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_writer.h"

#define HIT_ROOM (TRACE_RUN_HEAD_BYTES + TRACE_HIT_BYTES_MAX + TRACE_SAMPLE_SLACK)

_Static_assert(TRACE_CHUNK_BYTES_MIN >=
                   sizeof(struct hr_chunk_header) + sizeof(struct hr_record_header) +
                       sizeof(struct hr_rec_base) + sizeof(uint64_t) * HR_EVENTS_MAX + HIT_ROOM,
               "the first hit of an empty chunk fits");

void trace_writer_probes(struct trace_writer *w, uint32_t argument_count)
{
    w->probes.argument_count = argument_count;
}

uint64_t trace_probes_later(const struct trace_writer *w, uint32_t event)
{
    uint64_t sample = w->previous.counters[event], hit = w->probes.latest[event];

    return sample - w->first[event] > hit - w->first[event] ? sample : hit;
}

void trace_probes_begin(struct trace_writer *w)
{
    struct trace_probes *p = &w->probes;

    p->time = w->previous.time;
    p->interval = 0;
    p->sp = 0;
    p->point = 0;
    for (uint32_t i = 0; i < w->event_count; i++) {
        p->counters[i] = w->previous.counters[i] - w->first[i];
        p->increments[i] = 0;
    }
    memset(p->arguments, 0, sizeof p->arguments);
}

/* Returns the values of a slot: counters and arguments. */
static const uint8_t *values_of(const struct trace_slot *hit)
{
    return (const uint8_t *)hit + offsetof(struct trace_slot, counters);
}

static uint64_t take_event(struct trace_writer *w, const struct trace_slot *hit, uint32_t i)
{
    struct trace_probes *p = &w->probes;
    uint64_t later = trace_probes_later(w, i);
    uint64_t whole, increment, field;

    p->latest[i] = later + ((hit->counters[i] - later) & w->ranges[i]);
    whole = p->latest[i] - w->first[i];
    increment = whole - p->counters[i];
    field = trace_code_zigzag(increment - p->increments[i]);
    p->counters[i] = whole;
    p->increments[i] = increment;
    return field;
}

/* Advances the state to a hit, and stores its fields.  Returns them or-ed together. */
static uint64_t take_differences(struct trace_writer *w, const struct trace_slot *hit,
                                 uint64_t *fields)
{
    struct trace_probes *p = &w->probes;
    uint64_t interval = hit->time - p->time;
    uint32_t point = trace_slot_point(hit);
    uint64_t *field = fields;
    uint64_t all = 0;

    *field++ = trace_code_zigzag(interval - p->interval);
    *field++ = trace_code_zigzag(hit->ip - p->sp);
    *field++ = trace_code_zigzag((uint64_t)point - p->point);
    p->time = hit->time;
    p->interval = interval;
    p->sp = hit->ip;
    p->point = point;
    for (uint32_t i = 0; i < w->event_count; i++)
        *field++ = take_event(w, hit, i);
    for (uint32_t i = 0; i < p->argument_count; i++) {
        uint64_t value = bytes_load64(values_of(hit) + sizeof(uint64_t) * (w->event_count + i));

        *field++ = trace_code_zigzag(value - p->arguments[i]);
        p->arguments[i] = value;
    }
    while (field != fields)
        all |= *--field;
    return all;
}

static bool is_of_hits(const struct trace_writer *w)
{
    return w->run != 0 && (w->run_type == HR_REC_PROBES || w->run_type == HR_REC_PROBES_WIDE);
}

static bool run_takes(struct trace_writer *w, uint32_t tid, bool narrow)
{
    if (!is_of_hits(w) || w->run_tid != tid || w->run_samples == TRACE_RUN_SAMPLES_MAX ||
        w->used - w->run + TRACE_HIT_BYTES_MAX > TRACE_BODY_BYTES_MAX)
        return false;
    if (w->run_type == HR_REC_PROBES)
        return narrow;
    w->narrow_streak = narrow ? (uint8_t)(w->narrow_streak + 1) : 0;
    return w->narrow_streak <= TRACE_NARROW_STREAK_MAX;
}

static void open_run(struct trace_writer *w, uint32_t tid, bool narrow)
{
    w->run = w->used;
    w->run_samples = 0;
    w->run_tid = tid;
    w->run_flags = 0;
    w->run_type = narrow ? HR_REC_PROBES : HR_REC_PROBES_WIDE;
    w->narrow_streak = 0;
    w->used += TRACE_RUN_HEAD_BYTES;
    w->header.record_count++;
}

static uint8_t *put_fields(uint8_t *at, const uint64_t *fields, uint32_t value_count, bool wide)
{
    uint32_t control_bytes = trace_code_control_bytes(value_count);
    uint8_t *p = at + control_bytes;
    uint64_t codes = 0;

    for (uint32_t i = 0; i < TRACE_FIELDS_FIXED + value_count; i++) {
        uint64_t value = fields[i];
        uint64_t code;

        if (wide)
            code = (uint64_t)(value != 0) + (value > 0xffff) + (value > 0xffffffff);
        else
            code = (uint64_t)(value != 0) + (value > 0xff) + (value > 0xffff);
        bytes_store64(p, value);
        p += wide ? (1u << code) & ~1u : code;
        codes |= code << (2 * i);
    }
    for (uint32_t i = 0; i < control_bytes; i++)
        at[i] = (uint8_t)(codes >> (8 * i));
    return p;
}

int trace_writer_probe(struct trace_writer *w, const struct trace_slot *hit)
{
    uint64_t fields[TRACE_HIT_FIELDS_MAX];
    bool narrow;

    if ((w->stacks != NULL || w->accesses != NULL) && !is_of_hits(w))
        trace_writer_close_run(w); /* includes the records that follow it */
    if (w->capacity - w->used < HIT_ROOM)
        return -ENOSPC;
    narrow = take_differences(w, hit, fields) < TRACE_NARROW_LIMIT;
    if (!run_takes(w, hit->tid, narrow)) {
        trace_writer_close_run(w);
        open_run(w, hit->tid, narrow);
    }
    w->used = (uint32_t)(put_fields(w->buffer + w->used, fields,
                                    w->event_count + w->probes.argument_count,
                                    w->run_type == HR_REC_PROBES_WIDE) -
                         w->buffer);
    w->run_samples++;
    trace_writer_note_time(w, hit->time);
    return 0;
}
