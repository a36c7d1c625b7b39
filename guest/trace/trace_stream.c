/* A CPU's part of the trace: from the slots of its ring to DATA chunks, or to a loss where there is
 * no room. */
#include "guest/trace/trace_stream.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/sample/pebs.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampling.h"
#include "guest/sample/share.h"
#include "guest/sample/stack.h"
#include "guest/trace/trace_record.h"
#include "guest/transport/transport.h"

#define PUBLISH_SLOTS 64u /* the producer sees at least so often how far draining is */
#define SKIPPED_NS 1000000u /* at most one HR_REC_SKIPPED of a CPU in so long */

_Static_assert(RING_SLOTS % PUBLISH_SLOTS == 0, "slots up to there are one piece of the ring");

struct trace_dropped trace_stream_dropped;

bool trace_stream_room(const struct trace_writer *w, bool samples)
{
    return transport->trace_room(w->capacity, samples);
}

void trace_stream_send(struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    if (transport->send(TRANSPORT_TRACE, w->buffer, bytes))
        panic("the trace port failed");
    run.boot->result.samples += bytes ? w->header.sample_count : 0;
}

static void check_stacks(const struct ring *ring, uint64_t tail, uint64_t count)
{
    for (uint64_t i = tail; i < tail + count && ring_slot(ring, i)->kind == 0; i++)
        stack_check(ring_slot(ring, i));
}

/* Gives samples without counters those of the sample before: differences of 0. */
static void repeat_counters(struct trace_stream *s, uint64_t tail, uint64_t count)
{
    uint32_t first = sampling.trigger->nmi; /* each sample has this one */
    size_t bytes = (sampling.session.event_count - first) * sizeof *s->counters;

    for (uint64_t i = tail; i < tail + count && ring_slot(s->ring, i)->kind == 0; i++) {
        struct trace_slot *slot = ring_slot(s->ring, i);

        if (slot->flags & HR_SAMPLE_NO_COUNTERS)
            memcpy(slot->counters + first, s->counters + first, bytes);
        else
            memcpy(s->counters + first, slot->counters + first, bytes);
    }
}

/* Makes samples of slots that hold precise records.  A slot may come here twice. */
static void complete_precise(struct trace_stream *s, uint64_t tail, uint64_t count)
{
    for (uint64_t i = tail; i < tail + count && ring_slot(s->ring, i)->kind == 0; i++) {
        struct trace_slot *slot = ring_slot(s->ring, i);

        if (slot->flags & HR_SAMPLE_NO_COUNTERS)
            continue;
        slot->flags |= HR_SAMPLE_NO_COUNTERS;
        pebs_complete(cpus[s->ring->cpu].pebs, slot, s->counters);
    }
}

static void count_lost(uint64_t samples)
{
    run.boot->result.lost_samples += samples;
}

static void note_lost(const struct trace_slot *slot)
{
    if (slot->kind == HR_REC_LOST)
        count_lost(slot->counters[0]);
}

/* Begins a chunk for a sample, or for another record, which gets room longer.  Returns false
 * without room. */
static bool begin_chunk(struct trace_stream *s, bool sample)
{
    struct trace_writer *w = &s->writer;

    s->records_only = !trace_stream_room(w, true);
    if (s->records_only && (sample || !trace_stream_room(w, false)))
        return false;
    trace_writer_begin(w, HR_CHUNK_DATA);
    return true;
}

/* Consumes slots without writing them.  Returns how many. */
static uint32_t drop_slots(struct trace_stream *s, uint64_t tail, uint64_t count)
{
    const struct trace_slot *slot = ring_slot(s->ring, tail), *first = NULL, *last = NULL;
    uint32_t taken = 0, samples = 0;

    if (slot->kind != 0) {
        note_lost(slot);
        trace_loss_record(&s->loss, slot);
        return 1;
    }
    for (; taken < count && ring_slot(s->ring, tail + taken)->kind == 0; taken++) {
        slot = ring_slot(s->ring, tail + taken);
        if (slot->flags & HR_SAMPLE_ASIDE)
            continue;
        first = first == NULL ? slot : first;
        last = slot;
        samples++;
    }
    if (samples == 0)
        return taken;
    trace_loss_samples(&s->loss, first->time, last->time, samples);
    trace_writer_skip(&s->writer, last);
    trace_stream_dropped.samples += samples;
    count_lost(samples);
    return taken;
}

/* Writes records up to the next sample or loss; the first may be a loss.  Returns how many. */
static uint32_t write_records(struct trace_stream *s, uint64_t tail, uint64_t count)
{
    struct trace_writer *w = &s->writer;
    const struct trace_slot *slot = ring_slot(s->ring, tail);
    uint32_t taken = 0;

    do {
        int status =
            slot->kind == HR_REC_PROBES ? trace_writer_probe(w, slot) : trace_record_write(w, slot);
        if (status == -ENOSPC)
            break;
        if (status)
            panic("a record does not encode: error %d", status);
        note_lost(slot);
        slot = ring_slot(s->ring, tail + ++taken);
    } while (taken < count && slot->kind != 0 && slot->kind != HR_REC_LOST);
    return taken;
}

/* Writes slots from `tail` on, in one piece of the ring, or drops them.  Returns how many; 0 if the
 * chunk is full. */
static uint32_t take_slots(struct trace_stream *s, uint64_t tail, uint64_t head)
{
    struct trace_writer *w = &s->writer;
    const struct trace_slot *slot = ring_slot(s->ring, tail);
    uint64_t count = PUBLISH_SLOTS - tail % PUBLISH_SLOTS;

    bool of_samples = slot->kind == 0 || slot->kind == HR_REC_LOST;

    if (count > head - tail)
        count = head - tail;
    if (sampling.counters_rest)
        repeat_counters(s, tail, count);
    if (sampling.precise)
        complete_precise(s, tail, count);
    if ((w->used == 0 && !begin_chunk(s, of_samples)) || (of_samples && s->records_only))
        return drop_slots(s, tail, count);
    if (trace_loss_any(&s->loss) && trace_loss_write(&s->loss, w))
        return 0;
    if (slot->kind != 0)
        return write_records(s, tail, count);
    if (run.stacks.kind)
        check_stacks(s->ring, tail, count);
    return trace_writer_samples(w, slot, (size_t)1 << s->ring->slot_shift, (uint32_t)count);
}

/* Writes what the sampler has skipped since the last such record.  Without room now, the next
 * record includes it. */
static void write_skipped(struct trace_stream *s, bool end)
{
    const struct share *share = &cpus[s->ring->cpu].share;
    struct trace_writer *w = &s->writer;
    uint64_t skipped = __atomic_load_n(&share->skipped, __ATOMIC_ACQUIRE);
    struct hr_rec_skipped record = {.time_first = s->skipped ? s->skipped_last : run.start_ticks,
                                    .time_last = share->skipped_last,
                                    .count = skipped - s->skipped};

    if (record.count == 0 ||
        (!end && record.time_last - record.time_first < run_ns_to_ticks(SKIPPED_NS)))
        return;
    if (w->used == 0 && !begin_chunk(s, false))
        return;
    if (trace_writer_record(w, HR_REC_SKIPPED, record.time_last, &record, sizeof record, NULL, 0)) {
        trace_stream_send(w);
        if (!begin_chunk(s, false) || trace_writer_record(w, HR_REC_SKIPPED, record.time_last,
                                                          &record, sizeof record, NULL, 0))
            return;
    }
    s->skipped = skipped;
    s->skipped_last = record.time_last;
}

bool trace_stream_drain(struct trace_stream *s, bool flush)
{
    struct trace_writer *w = &s->writer;
    struct ring *ring = s->ring;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->tail;
    bool any = tail != head;

    if (s->records_only && w->used && trace_stream_room(w, true))
        trace_stream_send(w); /* samples continue in the next one */
    while (tail != head) {
        uint32_t taken = take_slots(s, tail, head);
        if (taken == 0)
            trace_stream_send(w);
        tail += taken;
        __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
    }
    write_skipped(s, false);
    if (flush && trace_writer_dirty(w))
        trace_stream_send(w);
    return any;
}

void trace_stream_end(struct trace_stream *s)
{
    struct trace_writer *w = &s->writer;
    const struct ring *ring = s->ring;

    trace_stream_drain(s, false);
    write_skipped(s, true);
    if (ring->lost_count) {
        trace_loss_samples(&s->loss, ring->lost_first, ring->lost_last, ring->lost_count);
        count_lost(ring->lost_count);
    }
    if (trace_loss_any(&s->loss) && w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    while (trace_loss_any(&s->loss) && trace_loss_write(&s->loss, w)) {
        trace_stream_send(w);
        trace_writer_begin(w, HR_CHUNK_DATA);
    }
    if (trace_writer_dirty(w))
        trace_stream_send(w);
    trace_stream_dropped.records += s->loss.records;
}
