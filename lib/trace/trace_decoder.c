/* Decodes the samples of a trace: the inner loop of every reader. */
#include <stdbool.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_reader.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A run being decoded.  It has a copy of the decoder's state, which is kept only if the whole run
 * decodes. */
struct run {
    const uint8_t *at;
    const uint8_t *end;
    struct trace_slot *out;
    uint32_t count;
    uint32_t tid;
    uint8_t flags;
};

void trace_decoder_init(struct trace_decoder *d, uint32_t event_count)
{
    memset(d, 0, sizeof *d);
    d->event_count = event_count;
}

enum trace_status trace_decoder_base(struct trace_decoder *d, const struct trace_record *record)
{
    struct hr_rec_base base;
    const uint8_t *counters;
    size_t counter_bytes;

    if (!trace_body(record, &base, sizeof base, &counters, &counter_bytes))
        return TRACE_BAD_RECORD;
    if (d->event_count > HR_EVENTS_MAX || base.event_count != d->event_count ||
        counter_bytes < 8 * (size_t)d->event_count || base.cost_ticks > UINT16_MAX)
        return TRACE_BAD_RECORD;
    memset(&d->previous, 0, sizeof d->previous);
    memset(d->increments, 0, sizeof d->increments);
    d->previous.time = base.time;
    d->previous.ip = base.ip;
    d->previous.cost_ticks = (uint16_t)base.cost_ticks;
    memcpy(d->previous.counters, counters, 8 * (size_t)d->event_count);
    d->interval = base.interval;
    d->has_base = 1;
    return TRACE_OK;
}

/* Decodes one sample at `at`, where its worst case and the slack must fit. */
static ALWAYS_INLINE const uint8_t *decode_one(struct trace_decoder *d, const struct run *run,
                                               struct trace_slot *out, const uint8_t *at,
                                               uint32_t event_count, bool wide)
{
    uint32_t codes = bytes_load32(at);

    at += trace_code_control_bytes(event_count);
    d->interval += trace_code_take(&at, codes & 3, wide);
    d->intervals |= d->interval;
    d->previous.time += d->interval;
    d->previous.ip += trace_code_take(&at, (codes >> 2) & 3, wide);
    d->previous.cost_ticks += (uint16_t)trace_code_take(&at, (codes >> 4) & 3, wide);
    out->time = d->previous.time;
    out->ip = d->previous.ip;
    out->tid = run->tid;
    out->cost_ticks = d->previous.cost_ticks;
    out->flags = run->flags;
    out->kind = 0;
#pragma GCC unroll 13
    for (uint32_t i = 0; i < event_count; i++) {
        uint32_t code = (codes >> (2 * (TRACE_FIELDS_FIXED + i))) & 3;

        d->increments[i] += trace_code_take(&at, code, wide);
        d->previous.counters[i] += d->increments[i];
        out->counters[i] = d->previous.counters[i];
    }
    return at;
}

/* Near the run's end loads would reach past it: decode from a padded copy. */
static ALWAYS_INLINE bool decode_last(struct trace_decoder *d, struct run *run,
                                      struct trace_slot *out, uint32_t event_count, bool wide)
{
    uint8_t padded[TRACE_SAMPLE_BYTES_MAX + TRACE_SAMPLE_SLACK] = {0};
    size_t remaining = (size_t)(run->end - run->at);
    size_t used;

    memcpy(padded, run->at, remaining < sizeof padded ? remaining : sizeof padded);
    used = (size_t)(decode_one(d, run, out, padded, event_count, wide) - padded);
    if (used > remaining)
        return false;
    run->at += used;
    return true;
}

static ALWAYS_INLINE bool decode_run(struct trace_decoder *state, struct run *run,
                                     uint32_t event_count, bool wide)
{
    const size_t worst = trace_code_control_bytes(event_count) +
                         (wide ? 8 : 3) * (TRACE_FIELDS_FIXED + event_count) + TRACE_SAMPLE_SLACK;
    struct trace_decoder d = *state;
    const uint8_t *at = run->at;
    uint32_t i = 0;

    d.intervals = 0;
    for (; i < run->count && (size_t)(run->end - at) >= worst; i++)
        at = decode_one(&d, run, run->out + i, at, event_count, wide);
    run->at = at;
    for (; i < run->count; i++)
        if (!decode_last(&d, run, run->out + i, event_count, wide))
            return false;
    if (run->at != run->end)
        return false;
    if (run->flags & HR_SAMPLE_ASIDE)
        state->intervals = d.intervals; /* later samples do not depend on it */
    else
        *state = d;
    return true;
}

static bool decode_wide(struct trace_decoder *d, struct run *run)
{
    return decode_run(d, run, d->event_count, true);
}

static bool decode_narrow(struct trace_decoder *d, struct run *run)
{
    switch (d->event_count) { /* a constant count unrolls the loop over events */
    case 1:
        return decode_run(d, run, 1, false);
    case 2:
        return decode_run(d, run, 2, false);
    case 3:
        return decode_run(d, run, 3, false);
    case 4:
        return decode_run(d, run, 4, false);
    case 5:
        return decode_run(d, run, 5, false);
    case 6:
        return decode_run(d, run, 6, false);
    default:
        return decode_run(d, run, d->event_count, false);
    }
}

enum trace_status trace_decoder_samples(struct trace_decoder *d, const struct trace_record *record,
                                        struct trace_slot *out, uint32_t room, uint32_t *count)
{
    struct hr_rec_samples head;
    struct run run = {.out = out, .end = record->body + record->bytes};
    size_t bytes;
    bool decoded;

    *count = 0;
    if (!d->has_base || !trace_body(record, &head, sizeof head, &run.at, &bytes))
        return TRACE_BAD_RECORD;
    if (head.count == 0 || head.count > TRACE_RUN_SAMPLES_MAX)
        return TRACE_BAD_RECORD;
    if (head.count > room)
        return TRACE_BAD_LENGTH;
    run.count = head.count;
    run.tid = head.tid;
    run.flags = (uint8_t)head.flags;
    if (record->type == HR_REC_SAMPLES)
        decoded = decode_narrow(d, &run);
    else
        decoded = record->type == HR_REC_SAMPLES_WIDE && decode_wide(d, &run);
    if (!decoded)
        return TRACE_BAD_RECORD;
    *count = head.count;
    return TRACE_OK;
}
