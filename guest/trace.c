/* Service work on the trace: from ring slots to chunks on the trace port. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "drivers/platform.h"
#include "guest/log.h"
#include "guest/machine.h"
#include "guest/marks.h"
#include "guest/regions.h"
#include "guest/ring.h"
#include "guest/run.h"
#include "guest/stack.h"
#include "guest/trace.h"
#include "guest/trace_maps.h"
#include "guest/trace_meta.h"
#include "guest/transport.h"
#include "lib/trace_writer.h"

#define CHUNK_BYTES 65536u
#define PUBLISH_SLOTS 64u /* the producer sees at least so often how far draining is */
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
};

static struct stream meta;
static struct cpu_stream *streams[CPUS_MAX]; /* NULL: the CPU runs no program */

static uint64_t end_bytes = CHUNK_BYTES + END_BYTES; /* of the streams, too, as they come */

uint64_t trace_end_bytes(void)
{
    return end_bytes;
}

static void send_chunk(struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    if (transport->send(TRANSPORT_TRACE, w->buffer, bytes))
        panic("the trace port failed");
}

void trace_init(void)
{
    trace_writer_init(&meta.writer, meta.buffer, CHUNK_BYTES, HR_CPU_NONE, run.session.event_count);
}

void trace_add_ring(struct ring *ring)
{
    struct cpu_stream *stream = platform_allocate(sizeof *stream);

    if (!stream)
        panic("no memory for the trace of CPU %u", ring->cpu);
    stream->ring = ring;
    streams[ring->cpu] = stream;
    trace_writer_init(&stream->data.writer, stream->data.buffer, CHUNK_BYTES, (uint16_t)ring->cpu,
                      run.session.event_count);
    if (stack_add_to_writer(&stream->data.writer))
        panic("no memory for the call stacks of CPU %u; give more with --mem", ring->cpu);
    /* an open chunk, and one for what was dropped since */
    end_bytes += stream->data.writer.capacity + TRACE_CHUNK_BYTES_MIN;
    if (!run.pmu_caps.needs_encodings)
        return;
    /* overflow sampling makes the first event whole itself: guest/overflow.c */
    for (uint32_t i = run.mode == HR_MODE_OVERFLOW; i < run.session.event_count; i++)
        trace_writer_counter(&stream->data.writer, i, run.session.events[i].width_bits,
                             0ull - PMU_START_BEFORE_END);
}

void trace_start(void)
{
    static struct hr_file_header header;

    trace_file_header(&header);
    if (transport->send(TRANSPORT_TRACE, &header, sizeof header))
        panic("the trace port failed");
    trace_writer_begin(&meta.writer, HR_CHUNK_META);
    trace_meta_write(&meta.writer);
    send_chunk(&meta.writer);
}

/* A record's fixed body, as the slot's words describe it; see guest/sampler.h's users. */
union record_body {
    struct hr_rec_syscall syscall;
    struct hr_rec_switch switched;
    struct hr_rec_output output;
    struct hr_rec_gap gap;
    struct hr_rec_fault fault;
    struct hr_rec_period period;
};

static uint32_t saturated(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint32_t slot_to_body(const struct trace_slot *slot, union record_body *body)
{
    const uint64_t *words = slot->counters;

    switch (slot->kind) {
    case HR_REC_SYSCALL:
        body->syscall = (struct hr_rec_syscall){.time = slot->time,
                                                .result = slot->ip,
                                                .duration_ticks = saturated(words[0]),
                                                .tid = slot->tid,
                                                .number = (uint32_t)words[1]};
        return sizeof body->syscall;
    case HR_REC_SWITCH:
        body->switched = (struct hr_rec_switch){.time = slot->time,
                                                .from_tid = (uint32_t)words[0],
                                                .to_tid = (uint32_t)words[1],
                                                .reason = (uint32_t)words[2],
                                                .waker_tid = (uint32_t)words[3]};
        return sizeof body->switched;
    case HR_REC_OUTPUT:
        body->output = (struct hr_rec_output){.time = slot->time,
                                              .offset = words[0],
                                              .bytes = (uint32_t)words[1],
                                              .stream = (uint32_t)words[2]};
        return sizeof body->output;
    case HR_REC_GAP:
        body->gap = (struct hr_rec_gap){.time_first = slot->time,
                                        .time_last = words[0],
                                        .reason = (uint32_t)words[1],
                                        .tid = slot->tid};
        return sizeof body->gap;
    case HR_REC_FAULT:
        body->fault = (struct hr_rec_fault){.time = slot->time,
                                            .ip = slot->ip,
                                            .address = words[0],
                                            .vector = (uint32_t)words[1],
                                            .error = (uint32_t)words[2],
                                            .signal = (uint32_t)words[3],
                                            .tid = slot->tid};
        return sizeof body->fault;
    case HR_REC_PERIOD:
        body->period = (struct hr_rec_period){.time = slot->time, .period = words[0]};
        return sizeof body->period;
    default:
        panic("a ring holds a slot of kind %u", slot->kind);
    }
}

static int write_mark(struct trace_writer *w, const struct trace_slot *slot)
{
    const struct hr_rec_mark mark = {.time = slot->time, .tid = slot->tid};
    uint32_t bytes;
    const char *text = marks_text(slot->counters[0], &bytes);

    return trace_writer_record(w, HR_REC_MARK, slot->time, &mark, sizeof mark, text, bytes);
}

static int write_record(struct trace_writer *w, const struct trace_slot *slot)
{
    union record_body body;

    if (slot->kind == HR_REC_LOST) {
        const struct hr_rec_lost lost = {
            .time_first = slot->time, .time_last = slot->ip, .count = slot->counters[0]};
        return trace_writer_lost(w, &lost);
    }
    if (slot->kind == HR_REC_MARK)
        return write_mark(w, slot);
    uint32_t bytes = slot_to_body(slot, &body);
    return trace_writer_record(w, slot->kind, slot->time, &body, bytes, NULL, 0);
}

static void check_stacks(const struct ring *ring, uint64_t tail, uint64_t count)
{
    for (uint64_t i = tail; i < tail + count && ring_slot(ring, i)->kind == 0; i++)
        stack_check(ring_slot(ring, i));
}

/* Writes slots from `tail` on, in one piece of the ring: how many; 0 when the chunk is full. */
static uint32_t write_slots(struct trace_writer *w, const struct ring *ring, uint64_t tail,
                            uint64_t head)
{
    const struct trace_slot *slot = ring_slot(ring, tail);
    uint64_t count = PUBLISH_SLOTS - tail % PUBLISH_SLOTS;

    if (w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    if (slot->kind != 0) {
        int status = write_record(w, slot);
        if (status && status != -ENOSPC)
            panic("a record does not encode: error %d", status);
        return status == 0;
    }
    if (count > head - tail)
        count = head - tail;
    if (run.stacks.kind)
        check_stacks(ring, tail, count);
    return trace_writer_samples(w, slot, (size_t)1 << ring->slot_shift, (uint32_t)count);
}

/* What the program mapped since, in META chunks of their own. */
static void send_maps(void)
{
    while (trace_maps_any()) {
        trace_writer_begin(&meta.writer, HR_CHUNK_META);
        trace_maps_write(&meta.writer);
        send_chunk(&meta.writer);
    }
}

bool trace_drain(struct ring *ring, bool flush)
{
    struct trace_writer *w = &streams[ring->cpu]->data.writer;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->tail;
    bool any = tail != head;

    send_maps();
    while (tail != head) {
        uint32_t written = write_slots(w, ring, tail, head);
        if (written == 0)
            send_chunk(w);
        tail += written;
        __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
    }
    if (flush && trace_writer_dirty(w))
        send_chunk(w);
    return any;
}

/* The loss that no later slot could announce. */
static void write_owed_loss(struct ring *ring)
{
    struct trace_writer *w = &streams[ring->cpu]->data.writer;
    const struct hr_rec_lost lost = {
        .time_first = ring->lost_first, .time_last = ring->lost_last, .count = ring->lost_count};

    if (!ring->lost_count)
        return;
    if (w->used == 0)
        trace_writer_begin(w, HR_CHUNK_DATA);
    if (trace_writer_lost(w, &lost) == -ENOSPC) {
        send_chunk(w);
        trace_writer_begin(w, HR_CHUNK_DATA);
        trace_writer_lost(w, &lost);
    }
}

static void add(uint8_t type, const void *body, uint32_t bytes)
{
    if (trace_writer_record(&meta.writer, type, TRACE_NO_TIME, body, bytes, NULL, 0))
        panic("the END chunk does not fit");
}

static void add_nmis(const struct cpu *cpu)
{
    const struct hr_rec_nmi nmis = {.samples = cpu->overflow_samples,
                                    .spurious = cpu->nmi_spurious,
                                    .unknown = cpu->nmi_unknown,
                                    .cpu = (uint16_t)cpu->index};

    if (nmis.samples || nmis.spurious || nmis.unknown)
        add(HR_REC_NMI, &nmis, sizeof nmis);
}

static void add_activity(const struct cpu *cpu)
{
    struct hr_rec_activity activity = cpu->activity;

    activity.cpu = (uint16_t)cpu->index;
    add(HR_REC_ACTIVITY, &activity, sizeof activity);
}

/* Every CPU's last reading, made whole by itself, and their sum. */
static void add_totals(void)
{
    uint64_t sum[HR_EVENTS_MAX] = {0}, whole[HR_EVENTS_MAX];

    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!streams[cpu])
            continue;
        trace_writer_extend(&streams[cpu]->data.writer, cpus[cpu].totals, whole);
        for (uint32_t i = 0; i < run.session.event_count; i++)
            sum[i] += whole[i];
    }
    for (uint16_t i = 0; i < run.session.event_count; i++) {
        const struct hr_rec_total total = {.value = sum[i], .index = i};
        add(HR_REC_TOTAL, &total, sizeof total);
    }
}

/* Regions have up to 2 KB an event: the END chunk gets a larger buffer if memory is left. */
static void make_room_for_regions(void)
{
    void *buffer = regions_any() ? platform_allocate(END_BYTES) : NULL;

    if (!buffer)
        return;
    meta.writer.buffer = buffer;
    meta.writer.capacity = END_BYTES;
}

static void add_stream(uint16_t cpu)
{
    const struct trace_writer *w = &streams[cpu]->data.writer;
    const struct hr_rec_stream stream = {
        .samples = w->samples, .lost = w->lost, .chunks = w->sequence, .cpu = cpu};

    add(HR_REC_STREAM, &stream, sizeof stream);
}

void trace_end(const struct hr_rec_exit *exit_record)
{
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!streams[cpu])
            continue;
        trace_drain(streams[cpu]->ring, false);
        write_owed_loss(streams[cpu]->ring);
        if (trace_writer_dirty(&streams[cpu]->data.writer))
            send_chunk(&streams[cpu]->data.writer);
    }
    make_room_for_regions();
    trace_writer_begin(&meta.writer, HR_CHUNK_END);
    trace_writer_record(&meta.writer, HR_REC_EXIT, exit_record->time, exit_record,
                        sizeof *exit_record, NULL, 0);
    trace_meta_end(&meta.writer);
    add_totals();
    for (uint16_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (streams[cpu])
            add_stream(cpu);
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        add_nmis(&cpus[cpu]);
        if (!streams[cpu])
            continue;
        add_activity(&cpus[cpu]);
        add(HR_REC_MACHINE_CPU, machine_record(&cpus[cpu]), sizeof(struct hr_rec_machine_cpu));
    }
    regions_write(&meta.writer);
    send_chunk(&meta.writer);
}
