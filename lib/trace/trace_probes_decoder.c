/* Decodes hits of probes. */
#include <stdbool.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/trace/trace_code.h"
#include "lib/trace/trace_probes.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A run being decoded, with a copy of the decoder's state, which is kept only if the whole run
 * decodes. */
struct run {
    struct trace_probes_decoder d;
    const uint8_t *at;
    const uint8_t *end;
    uint32_t tid;
    uint32_t count;
    uint64_t points; /* or-ed together */
};

void trace_probes_decoder_begin(struct trace_probes_decoder *d, uint32_t argument_count,
                                const struct trace_decoder *base)
{
    memset(d, 0, sizeof *d);
    d->event_count = base->event_count;
    d->argument_count = argument_count;
    d->has_base = base->has_base && argument_count <= HR_PROBE_ARGUMENTS_MAX;
    d->time = base->previous.time;
    memcpy(d->counters, base->previous.counters, sizeof d->counters);
}

static ALWAYS_INLINE uint64_t take_field(const uint8_t **at, uint64_t *codes, bool wide)
{
    uint32_t code = *codes & 3;

    *codes >>= 2;
    return trace_code_take(at, code, wide);
}

/* Decodes one hit at `at`, where its worst case and the slack must fit. */
static ALWAYS_INLINE const uint8_t *decode_one(struct run *run, struct trace_hit *out,
                                               const uint8_t *at, bool wide)
{
    struct trace_probes_decoder *d = &run->d;
    uint64_t codes = bytes_load64(at);

    at += trace_code_control_bytes(d->event_count + d->argument_count);
    d->interval += take_field(&at, &codes, wide);
    d->intervals |= d->interval;
    d->time += d->interval;
    d->sp += take_field(&at, &codes, wide);
    d->point += (uint32_t)take_field(&at, &codes, wide);
    run->points |= d->point;
    out->time = d->time;
    out->sp = d->sp;
    out->tid = run->tid;
    out->point = d->point >> 2;
    out->what = d->point & 3;
    out->cpu = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        d->increments[i] += take_field(&at, &codes, wide);
        d->counters[i] += d->increments[i];
        out->counters[i] = d->counters[i];
    }
    for (uint32_t i = 0; i < d->argument_count; i++) {
        d->arguments[i] += take_field(&at, &codes, wide);
        out->arguments[i] = d->arguments[i];
    }
    return at;
}

/* Near the run's end loads would reach past it: decode from a padded copy. */
static __attribute__((noinline)) bool decode_last(struct run *run, struct trace_hit *out, bool wide)
{
    uint8_t padded[TRACE_HIT_BYTES_MAX + TRACE_SAMPLE_SLACK] = {0};
    size_t remaining = (size_t)(run->end - run->at);
    size_t used;

    memcpy(padded, run->at, remaining < sizeof padded ? remaining : sizeof padded);
    used = (size_t)(decode_one(run, out, padded, wide) - padded);
    if (used > remaining)
        return false;
    run->at += used;
    return true;
}

static ALWAYS_INLINE bool decode_run(struct run *run, struct trace_hit *out, bool wide)
{
    const uint32_t value_count = run->d.event_count + run->d.argument_count;
    const size_t worst = trace_code_control_bytes(value_count) +
                         (wide ? 8 : 3) * (TRACE_FIELDS_FIXED + value_count) + TRACE_SAMPLE_SLACK;
    const uint8_t *at = run->at;
    uint32_t i = 0;

    for (; i < run->count && (size_t)(run->end - at) >= worst; i++)
        at = decode_one(run, out + i, at, wide);
    run->at = at;
    for (; i < run->count; i++)
        if (!decode_last(run, out + i, wide))
            return false;
    return run->at == run->end && run->points < 4ull * HR_PROBE_POINTS_MAX;
}

enum trace_status trace_probes_decoder_hits(struct trace_probes_decoder *d,
                                            const struct trace_record *record,
                                            struct trace_hit *out, uint32_t room, uint32_t *count)
{
    struct run run = {.d = *d, .end = record->body + record->bytes};
    struct hr_rec_probes head;
    size_t bytes;

    *count = 0;
    if (!d->has_base || !trace_body(record, &head, sizeof head, &run.at, &bytes))
        return TRACE_BAD_RECORD;
    if (head.count == 0 || head.count > TRACE_RUN_SAMPLES_MAX)
        return TRACE_BAD_RECORD;
    if (record->type != HR_REC_PROBES && record->type != HR_REC_PROBES_WIDE)
        return TRACE_BAD_RECORD;
    if (head.count > room)
        return TRACE_BAD_LENGTH;
    run.tid = head.tid;
    run.count = head.count;
    run.d.intervals = 0;
    if (!(record->type == HR_REC_PROBES ? decode_run(&run, out, false)
                                        : decode_run(&run, out, true)))
        return TRACE_BAD_RECORD;
    *d = run.d;
    *count = head.count;
    return TRACE_OK;
}
