/* Service work on the trace: from ring slots to chunks on the trace port. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "drivers/platform.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/pebs.h"
#include "guest/sample/python.h"
#include "guest/sample/python_walk.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampling.h"
#include "guest/sample/share.h"
#include "guest/sample/stack.h"
#include "guest/trace/called.h"
#include "guest/trace/machine.h"
#include "guest/trace/regions.h"
#include "guest/trace/trace.h"
#include "guest/trace/trace_loss.h"
#include "guest/trace/trace_meta.h"
#include "guest/trace/trace_notes.h"
#include "guest/trace/trace_record.h"
#include "guest/transport/leave.h"
#include "guest/transport/transport.h"
#include "lib/trace_writer.h"
#include "lib/x86.h"

#define CHUNK_BYTES 65536u
#define PUBLISH_SLOTS 64u /* the producer sees at least so often how far draining is */
#define SKIPPED_NS                                                                 \
    1000000u /* at most one HR_REC_SKIPPED of a CPU in so long, and one at the end \
              */
#define END_BYTES (1u << 20) /* of an END chunk with regions, header included */

_Static_assert(RING_SLOTS % PUBLISH_SLOTS == 0, "slots up to there are one piece of the ring");

/* One writer serves all CPUs' META and END chunks, and there is one for each CPU's DATA chunks. */
struct stream {
    struct trace_writer writer;
    uint8_t buffer[CHUNK_BYTES] __attribute__((aligned(64)));
};

struct cpu_stream {
    struct stream data;
    struct ring *ring;
    struct trace_loss loss; /* for want of room: not written yet */
    uint64_t skipped; /* of the CPU's share.skipped, how many are written */
    uint64_t skipped_last; /* the last of them */
    uint64_t counters[HR_EVENTS_MAX]; /* of the last sample that has them: --counters-every */
    bool records_only; /* the open chunk takes no samples: there was no room for them */
};

static struct stream meta;
static struct cpu_stream *streams[CPUS_MAX]; /* NULL: the CPU runs no program */

static struct trace_dropped dropped;

/* Returns whether there is room for another chunk; the open ones have theirs in
 * transport_end_bytes. */
static bool room_for(const struct trace_writer *w, bool samples)
{
    return transport->trace_room(w->capacity, samples);
}

static void send_chunk(struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    if (transport->send(TRANSPORT_TRACE, w->buffer, bytes))
        panic("the trace port failed");
    run.boot->result.samples += bytes ? w->header.sample_count : 0;
}

void (*trace_flush)(void);

void trace_init(void (*flush)(void))
{
    trace_flush = flush;
    transport_end_bytes = CHUNK_BYTES + END_BYTES; /* trace_add_ring adds those of its stream */
    trace_writer_init(&meta.writer, meta.buffer, CHUNK_BYTES, HR_CPU_NONE,
                      sampling.session.event_count);
}

void trace_add_ring(struct ring *ring)
{
    struct cpu_stream *stream = platform_allocate(sizeof *stream);

    if (stream == NULL)
        panic("no memory for the trace of CPU %u", ring->cpu);
    stream->ring = ring;
    streams[ring->cpu] = stream;
    trace_writer_init(&stream->data.writer, stream->data.buffer, CHUNK_BYTES, (uint16_t)ring->cpu,
                      sampling.session.event_count);
    if (sampling.precise && ring == cpus[ring->cpu].ring)
        trace_writer_accesses(&stream->data.writer, pebs_accesses(&cpus[ring->cpu]),
                              sampling.session.registers);
    if (sampling.probes)
        trace_writer_probes(&stream->data.writer, sampling.probe_arguments);
    if (stack_add_to_writer(&stream->data.writer))
        panic("no memory for the call stacks of CPU %u; give more with --mem", ring->cpu);
    /* an open chunk, and one for what was dropped since */
    transport_end_bytes += stream->data.writer.capacity + TRACE_CHUNK_BYTES_MIN;
    if (ring != cpus[ring->cpu].ring)
        return; /* the observer of calls reads no counters */
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        if (sampling.session.events[i].source == HR_SOURCE_PMU && !sampling_whole(i))
            trace_writer_counter(&stream->data.writer, i, sampling.session.events[i].width_bits,
                                 0ull - PMU_START_BEFORE_END);
}

void trace_registers_start(const struct cpu *cpu)
{
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        const struct pmu_event *event = &sampling.session.events[i];

        if (event->source == HR_SOURCE_MSR)
            trace_writer_counter(&streams[cpu->index]->data.writer, i, event->width_bits,
                                 x86_rdmsr((uint32_t)event->encoding));
    }
    if (sampling.precise) /* until the first record */
        memcpy(streams[cpu->index]->counters, streams[cpu->index]->data.writer.first,
               sizeof streams[cpu->index]->counters);
}

static void refuse_room(void)
{
    char text[160];

    format_text(
        text, sizeof text,
        "the buffer for the results is too small: the end of the trace takes %lu KiB of it, "
        "and its beginning some more; see buffer in microtome.conf\n",
        transport_end_bytes >> 10);
    panic_report(text, strlen(text));
    leave_done(BOOT_END_UNSENT);
}

void trace_start(void)
{
    static struct hr_file_header header;

    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (streams[cpu] != NULL && !room_for(&streams[cpu]->data.writer, true))
            refuse_room();
    trace_file_header(&header);
    if (transport->send(TRANSPORT_TRACE, &header, sizeof header))
        panic("the trace port failed");
    trace_writer_begin(&meta.writer, HR_CHUNK_META);
    trace_meta_write(&meta.writer);
    send_chunk(&meta.writer);
}

static void check_stacks(const struct ring *ring, uint64_t tail, uint64_t count)
{
    for (uint64_t i = tail; i < tail + count && ring_slot(ring, i)->kind == 0; i++)
        stack_check(ring_slot(ring, i));
}

/* Gives samples without counters those of the sample before: differences of 0. */
static void repeat_counters(struct cpu_stream *s, uint64_t tail, uint64_t count)
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
static void complete_precise(struct cpu_stream *s, uint64_t tail, uint64_t count)
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
static bool begin_chunk(struct cpu_stream *s, bool sample)
{
    struct trace_writer *w = &s->data.writer;

    s->records_only = !room_for(w, true);
    if (s->records_only && (sample || !room_for(w, false)))
        return false;
    trace_writer_begin(w, HR_CHUNK_DATA);
    return true;
}

/* Consumes slots without writing them.  Returns how many. */
static uint32_t drop_slots(struct cpu_stream *s, uint64_t tail, uint64_t count)
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
    trace_writer_skip(&s->data.writer, last);
    dropped.samples += samples;
    count_lost(samples);
    return taken;
}

/* Writes records up to the next sample or loss; the first may be a loss.  Returns how many. */
static uint32_t write_records(struct cpu_stream *s, uint64_t tail, uint64_t count)
{
    struct trace_writer *w = &s->data.writer;
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
static uint32_t take_slots(struct cpu_stream *s, uint64_t tail, uint64_t head)
{
    struct trace_writer *w = &s->data.writer;
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

/* Sends what the processes did and mapped since, in META chunks of their own.  At the end there is
 * room for one. */
static void send_notes(bool end)
{
    while (trace_notes_any() && (end || room_for(&meta.writer, false))) {
        end = false;
        trace_writer_begin(&meta.writer, HR_CHUNK_META);
        trace_notes_write(&meta.writer);
        send_chunk(&meta.writer);
    }
}

bool trace_add_meta(uint8_t type, const void *body, uint32_t bytes, const void *tail,
                    uint32_t tail_bytes)
{
    struct trace_writer *w = &meta.writer;

    if (w->used == 0) {
        if (!room_for(w, false))
            return false;
        trace_writer_begin(w, HR_CHUNK_META);
    }
    if (trace_writer_record(w, type, TRACE_NO_TIME, body, bytes, tail, tail_bytes) == 0)
        return true;
    send_chunk(w);
    return trace_add_meta(type, body, bytes, tail, tail_bytes);
}

void trace_send_meta(void)
{
    if (meta.writer.used)
        send_chunk(&meta.writer);
}

/* Sends the code objects of Python that a CPU has met since. */
static void send_codes(uint32_t cpu)
{
    struct python_codes *codes = python_codes_of(cpu);
    const uint8_t *body;
    uint32_t bytes;

    while (codes != NULL && (body = python_walk_next(codes, &bytes)) != NULL &&
           trace_add_meta(HR_META_PYTHON_CODE, body, bytes, NULL, 0))
        python_walk_taken(codes);
    trace_send_meta();
}

/* Writes what the sampler has skipped since the last such record.  Without room now, the next
 * record includes it. */
static void write_skipped(struct cpu_stream *s, bool end)
{
    const struct share *share = &cpus[s->ring->cpu].share;
    struct trace_writer *w = &s->data.writer;
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
        send_chunk(w);
        if (!begin_chunk(s, false) || trace_writer_record(w, HR_REC_SKIPPED, record.time_last,
                                                          &record, sizeof record, NULL, 0))
            return;
    }
    s->skipped = skipped;
    s->skipped_last = record.time_last;
}

static bool trace_drain_ring(struct cpu_stream *s, bool flush)
{
    struct trace_writer *w = &s->data.writer;
    struct ring *ring = s->ring;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->tail;
    bool any = tail != head;

    if (s->records_only && w->used && room_for(w, true))
        send_chunk(w); /* samples continue in the next one */
    while (tail != head) {
        uint32_t taken = take_slots(s, tail, head);
        if (taken == 0)
            send_chunk(w);
        tail += taken;
        __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
    }
    write_skipped(s, false);
    if (flush && trace_writer_dirty(w))
        send_chunk(w);
    return any;
}

bool trace_drain(struct ring *ring, bool flush)
{
    context_assert_service();
    send_notes(false);
    send_codes(ring->cpu);
    called_send();
    return trace_drain_ring(streams[ring->cpu], flush);
}

/* Sends the rest of a CPU's stream, and losses that no later slot could announce. */
static void end_stream(struct cpu_stream *s)
{
    struct trace_writer *w = &s->data.writer;
    const struct ring *ring = s->ring;

    trace_drain_ring(s, false);
    write_skipped(s, true);
    if (ring->lost_count) {
        trace_loss_samples(&s->loss, ring->lost_first, ring->lost_last, ring->lost_count);
        count_lost(ring->lost_count);
    }
    if (trace_loss_any(&s->loss) && w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    while (trace_loss_any(&s->loss) && trace_loss_write(&s->loss, w)) {
        send_chunk(w);
        trace_writer_begin(w, HR_CHUNK_DATA);
    }
    if (trace_writer_dirty(w))
        send_chunk(w);
    dropped.records += s->loss.records;
}

static void trace_add(uint8_t type, const void *body, uint32_t bytes)
{
    if (trace_writer_record(&meta.writer, type, TRACE_NO_TIME, body, bytes, NULL, 0))
        panic("the END chunk does not fit");
}

static void add_nmis(const struct cpu *cpu)
{
    const struct hr_rec_nmi nmis = {.samples = cpu->overflow.samples,
                                    .spurious = cpu->overflow.nmi_spurious,
                                    .unknown = cpu->overflow.nmi_unknown,
                                    .cpu = (uint16_t)cpu->index};

    if (nmis.samples || nmis.spurious || nmis.unknown)
        trace_add(HR_REC_NMI, &nmis, sizeof nmis);
}

static void add_activity(const struct cpu *cpu)
{
    struct hr_rec_activity activity = cpu->activity;

    activity.cpu = (uint16_t)cpu->index;
    trace_add(HR_REC_ACTIVITY, &activity, sizeof activity);
}

static void add_share(const struct cpu *cpu)
{
    const struct hr_rec_share share = {
        .skipped = cpu->share.skipped,
        .spacing_ticks = sampling.share_factor ? cpu->share.seen_ticks + share_rest(cpu) : 0,
        .stolen_ns = paravirt_stolen_ns(cpu),
        .cpu = (uint16_t)cpu->index,
        .flags = cpu->paravirt.steal != NULL,
    };

    trace_add(HR_REC_SHARE, &share, sizeof share);
}

/* Extends every CPU's last reading to its full width, and adds them up. */
static void add_totals(void)
{
    uint64_t sum[HR_EVENTS_MAX] = {0}, whole[HR_EVENTS_MAX];

    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (streams[cpu] == NULL)
            continue;
        trace_writer_extend(&streams[cpu]->data.writer, cpus[cpu].totals, whole);
        for (uint32_t i = 0; i < sampling.session.event_count; i++)
            sum[i] += whole[i];
    }
    for (uint16_t i = 0; i < sampling.session.event_count; i++) {
        const struct hr_rec_total total = {.value = sum[i], .index = i};
        trace_add(HR_REC_TOTAL, &total, sizeof total);
    }
}

/* Regions have up to 2 KB an event: the END chunk gets a larger buffer if memory is left. */
static void make_room_for_regions(void)
{
    void *buffer = regions_any() ? platform_allocate(END_BYTES) : NULL;

    if (buffer == NULL)
        return;
    meta.writer.buffer = buffer;
    meta.writer.capacity = END_BYTES;
}

static void add_stream(uint16_t cpu)
{
    const struct trace_writer *w = &streams[cpu]->data.writer;
    const struct hr_rec_stream stream = {
        .samples = w->samples, .lost = w->lost, .chunks = w->sequence, .cpu = cpu};

    trace_add(HR_REC_STREAM, &stream, sizeof stream);
}

void trace_end(const struct hr_rec_exit *exit_record)
{
    context_assert_service();
    send_notes(true);
    called_send();
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (streams[cpu] != NULL) {
            end_stream(streams[cpu]);
            send_codes(cpu);
        }
    if (dropped.samples || dropped.records)
        log_notice("%lu samples and %lu other records did not fit into what keeps the trace until "
                   "it leaves; take a longer interval, or give it more memory",
                   dropped.samples, dropped.records);
    make_room_for_regions();
    trace_writer_begin(&meta.writer, HR_CHUNK_END);
    trace_writer_record(&meta.writer, HR_REC_EXIT, exit_record->time, exit_record,
                        sizeof *exit_record, NULL, 0);
    trace_meta_end(&meta.writer, &dropped);
    add_totals();
    for (uint16_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (streams[cpu] != NULL)
            add_stream(cpu);
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        add_nmis(&cpus[cpu]);
        if (cpus[cpu].ring == NULL)
            continue;
        add_activity(&cpus[cpu]);
        add_share(&cpus[cpu]);
        trace_add(HR_REC_MACHINE_CPU, machine_record(&cpus[cpu]),
                  sizeof(struct hr_rec_machine_cpu));
    }
    if (run.latency)
        trace_add(HR_REC_CALLS, &called_sums, sizeof called_sums);
    regions_write(&meta.writer);
    send_chunk(&meta.writer);
}
