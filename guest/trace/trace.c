/* Service work on the trace: from ring slots to chunks on the trace port. */
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
#include "guest/trace/trace_meta.h"
#include "guest/trace/trace_notes.h"
#include "guest/trace/trace_stream.h"
#include "guest/transport/leave.h"
#include "guest/transport/transport.h"
#include "lib/trace/trace_writer.h"
#include "lib/x86.h"

#define END_BYTES (1u << 20) /* of an END chunk with regions, header included */

/* One writer serves all CPUs' META and END chunks. */
static struct trace_writer meta;
static uint8_t meta_buffer[TRACE_CHUNK_BYTES] __attribute__((aligned(64)));

static struct trace_stream *streams[CPUS_MAX]; /* NULL: the CPU runs no program */

void (*trace_flush)(void);

void trace_init(void (*flush)(void))
{
    trace_flush = flush;
    /* trace_add_ring adds those of its stream */
    transport_end_bytes = TRACE_CHUNK_BYTES + END_BYTES;
    trace_writer_init(&meta, meta_buffer, TRACE_CHUNK_BYTES, HR_CPU_NONE,
                      sampling.session.event_count);
}

void trace_add_ring(struct ring *ring)
{
    struct trace_stream *stream = platform_allocate(sizeof *stream);

    if (stream == NULL)
        panic("no memory for the trace of CPU %u", ring->cpu);
    stream->ring = ring;
    streams[ring->cpu] = stream;
    trace_writer_init(&stream->writer, stream->buffer, TRACE_CHUNK_BYTES, (uint16_t)ring->cpu,
                      sampling.session.event_count);
    if (sampling.precise && ring == cpus[ring->cpu].ring)
        trace_writer_accesses(&stream->writer, pebs_accesses(&cpus[ring->cpu]),
                              sampling.session.registers);
    if (sampling.probes)
        trace_writer_probes(&stream->writer, sampling.probe_arguments);
    if (stack_add_to_writer(&stream->writer))
        panic("no memory for the call stacks of CPU %u; give more with --mem", ring->cpu);
    /* an open chunk, and one for what was dropped since */
    transport_end_bytes += stream->writer.capacity + TRACE_CHUNK_BYTES_MIN;
    if (ring != cpus[ring->cpu].ring)
        return; /* the observer of calls reads no counters */
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        if (sampling.session.events[i].source == HR_SOURCE_PMU && !sampling_whole(i))
            trace_writer_counter(&stream->writer, i, sampling.session.events[i].width_bits,
                                 0ull - PMU_START_BEFORE_END);
}

void trace_registers_start(const struct cpu *cpu)
{
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        const struct pmu_event *event = &sampling.session.events[i];

        if (event->source == HR_SOURCE_MSR)
            trace_writer_counter(&streams[cpu->index]->writer, i, event->width_bits,
                                 x86_rdmsr((uint32_t)event->encoding));
    }
    if (sampling.precise) /* until the first record */
        memcpy(streams[cpu->index]->counters, streams[cpu->index]->writer.first,
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
        if (streams[cpu] != NULL && !trace_stream_room(&streams[cpu]->writer, true))
            refuse_room();
    trace_file_header(&header);
    if (transport->send(TRANSPORT_TRACE, &header, sizeof header))
        panic("the trace port failed");
    trace_writer_begin(&meta, HR_CHUNK_META);
    trace_meta_write(&meta);
    trace_stream_send(&meta);
}

/* Sends what the processes did and mapped since, in META chunks of their own.  At the end there is
 * room for one. */
static void send_notes(bool end)
{
    while (trace_notes_any() && (end || trace_stream_room(&meta, false))) {
        end = false;
        trace_writer_begin(&meta, HR_CHUNK_META);
        trace_notes_write(&meta);
        trace_stream_send(&meta);
    }
}

bool trace_add_meta(uint8_t type, const void *body, uint32_t bytes, const void *tail,
                    uint32_t tail_bytes)
{
    struct trace_writer *w = &meta;

    if (w->used == 0) {
        if (!trace_stream_room(w, false))
            return false;
        trace_writer_begin(w, HR_CHUNK_META);
    }
    if (trace_writer_record(w, type, TRACE_NO_TIME, body, bytes, tail, tail_bytes) == 0)
        return true;
    trace_stream_send(w);
    return trace_add_meta(type, body, bytes, tail, tail_bytes);
}

void trace_send_meta(void)
{
    if (meta.used)
        trace_stream_send(&meta);
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

bool trace_drain(struct ring *ring, bool flush)
{
    context_assert_service();
    send_notes(false);
    send_codes(ring->cpu);
    called_send();
    return trace_stream_drain(streams[ring->cpu], flush);
}

static void trace_add(uint8_t type, const void *body, uint32_t bytes)
{
    if (trace_writer_record(&meta, type, TRACE_NO_TIME, body, bytes, NULL, 0))
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
        trace_writer_extend(&streams[cpu]->writer, cpus[cpu].totals, whole);
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
    meta.buffer = buffer;
    meta.capacity = END_BYTES;
}

static void add_stream(uint16_t cpu)
{
    const struct trace_writer *w = &streams[cpu]->writer;
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
            trace_stream_end(streams[cpu]);
            send_codes(cpu);
        }
    if (trace_stream_dropped.samples || trace_stream_dropped.records)
        log_notice("%lu samples and %lu other records did not fit into what keeps the trace until "
                   "it leaves; take a longer interval, or give it more memory",
                   trace_stream_dropped.samples, trace_stream_dropped.records);
    make_room_for_regions();
    trace_writer_begin(&meta, HR_CHUNK_END);
    trace_writer_record(&meta, HR_REC_EXIT, exit_record->time, exit_record, sizeof *exit_record,
                        NULL, 0);
    trace_meta_end(&meta, &trace_stream_dropped);
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
    regions_write(&meta);
    trace_stream_send(&meta);
}
