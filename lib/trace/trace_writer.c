/* Builds the chunks of a trace in a caller's buffer; the guest runs this for every sample. */
#include "lib/trace/trace_writer.h"

#include <errno.h>
#include <string.h>

#include "lib/crc32c.h"

#define CHUNK_BYTES_MAX ((uint32_t)sizeof(struct hr_chunk_header) + HR_CHUNK_PAYLOAD_MAX)

_Static_assert(sizeof(struct hr_rec_samples) == sizeof(struct hr_rec_probes) &&
                   offsetof(struct hr_rec_samples, count) == offsetof(struct hr_rec_probes, count),
               "runs of hits begin as those of samples do");

void trace_file_header(struct hr_file_header *header)
{
    memset(header, 0, sizeof *header);
    memcpy(header->magic, HR_FILE_MAGIC, sizeof header->magic);
    header->version_major = HR_VERSION_MAJOR;
    header->version_minor = HR_VERSION_MINOR;
    header->header_bytes = sizeof *header;
    header->crc = crc32c(0, header, offsetof(struct hr_file_header, crc));
}

void trace_writer_init(struct trace_writer *w, void *buffer, uint32_t capacity, uint16_t cpu,
                       uint32_t event_count)
{
    memset(w, 0, sizeof *w);
    w->buffer = buffer;
    w->capacity = capacity < CHUNK_BYTES_MAX ? capacity : CHUNK_BYTES_MAX;
    w->event_count = event_count;
    w->control_bytes = trace_code_control_bytes(event_count);
    w->header.cpu = cpu;
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        w->ranges[i] = UINT64_MAX;
}

void trace_writer_counter(struct trace_writer *w, uint32_t event, uint32_t width_bits,
                          uint64_t first)
{
    w->ranges[event] = UINT64_MAX >> (64 - width_bits);
    w->first[event] = w->previous.counters[event] = w->probes.latest[event] = first;
}

void trace_writer_stacks(struct trace_writer *w, enum hr_stack_kind kind, void *memory)
{
    w->stacks = trace_stacks_init(memory, kind);
    w->stack_offset = trace_slot_bytes(
        trace_slot_values(w->event_count, w->probes.argument_count, w->accesses != NULL,
                          w->accesses != NULL && w->accesses->registers));
}

void trace_writer_accesses(struct trace_writer *w, struct trace_accesses *memory, bool registers)
{
    memory->registers = registers;
    memory->bytes = 0;
    w->accesses = memory;
}

void trace_writer_extend(const struct trace_writer *w, const uint64_t *counters, uint64_t *whole)
{
    for (uint32_t i = 0; i < w->event_count; i++) {
        uint64_t latest = trace_probes_later(w, i);

        whole[i] = latest - w->first[i] + ((counters[i] - latest) & w->ranges[i]);
    }
}

static void put_base(struct trace_writer *w)
{
    const struct hr_rec_base base = {
        .time = w->previous.time,
        .interval = w->interval,
        .ip = w->previous.ip,
        .cost_ticks = w->previous.cost_ticks,
        .event_count = w->event_count,
    };
    uint8_t *at = w->buffer + w->used;
    uint64_t counters[HR_EVENTS_MAX];
    uint32_t counter_bytes = 8 * w->event_count;

    trace_code_record(at, HR_REC_BASE, (uint32_t)sizeof base + counter_bytes);
    memcpy(at + sizeof(struct hr_record_header), &base, sizeof base);
    for (uint32_t i = 0; i < w->event_count; i++)
        counters[i] = w->previous.counters[i] - w->first[i];
    memcpy(at + sizeof(struct hr_record_header) + sizeof base, counters, counter_bytes);
    w->used += (uint32_t)(sizeof(struct hr_record_header) + sizeof base) + counter_bytes;
    w->header.record_count = 1;
    memset(w->increments, 0, sizeof w->increments);
}

void trace_writer_begin(struct trace_writer *w, enum hr_chunk_type type)
{
    uint16_t cpu = w->header.cpu;

    memset(&w->header, 0, sizeof w->header);
    w->header.magic = HR_CHUNK_MAGIC;
    w->header.type = (uint16_t)type;
    w->header.cpu = cpu;
    w->header.time_first = TRACE_NO_TIME; /* until a record with a time comes */
    w->used = sizeof w->header;
    w->run = 0;
    w->narrow_key = TRACE_NO_RUN;
    if (type == HR_CHUNK_DATA)
        put_base(w);
    trace_probes_begin(w);
    if (w->stacks != NULL)
        trace_stacks_begin(w->stacks);
    if (w->accesses != NULL)
        memset(&w->accesses->state, 0, sizeof w->accesses->state);
}

void trace_writer_close_run(struct trace_writer *w)
{
    const struct hr_rec_samples run = {
        .tid = w->run_tid,
        .flags = w->run_flags,
        .count = (uint16_t)w->run_samples,
    };
    uint8_t *at = w->buffer + w->run;

    if (!w->run)
        return;
    trace_code_record(at, w->run_type,
                      w->used - w->run - (uint32_t)sizeof(struct hr_record_header));
    memcpy(at + sizeof(struct hr_record_header), &run, sizeof run);
    if (w->run_type <= HR_REC_SAMPLES_WIDE && !(w->run_flags & HR_SAMPLE_ASIDE)) {
        w->header.sample_count += w->run_samples;
        w->samples += w->run_samples;
    }
    w->run = 0;
    w->narrow_key = TRACE_NO_RUN;
    if (w->stacks != NULL)
        w->used =
            (uint32_t)(trace_stacks_flush(w->stacks, w->buffer + w->used, &w->header.record_count) -
                       w->buffer);
    if (w->accesses != NULL)
        w->used = (uint32_t)(trace_accesses_flush(w->accesses, w->buffer + w->used,
                                                  &w->header.record_count) -
                             w->buffer);
}

static uint32_t empty_bytes(const struct trace_writer *w)
{
    uint32_t bytes = sizeof w->header;

    if (w->header.type == HR_CHUNK_DATA)
        bytes += (uint32_t)(sizeof(struct hr_record_header) + sizeof(struct hr_rec_base)) +
                 8 * w->event_count;
    return bytes;
}

int trace_writer_record(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
                        uint32_t body_bytes, const void *tail, uint32_t tail_bytes)
{
    uint32_t bytes = body_bytes + tail_bytes;
    uint32_t needed = (uint32_t)sizeof(struct hr_record_header) + bytes;
    uint8_t *at;

    if (body_bytes > TRACE_BODY_BYTES_MAX || tail_bytes > TRACE_BODY_BYTES_MAX - body_bytes ||
        needed > w->capacity - empty_bytes(w))
        return -EMSGSIZE;
    if (trace_writer_has_more(w))
        trace_writer_close_run(w); /* includes the records that follow it */
    if (needed > w->capacity - w->used)
        return -ENOSPC;
    trace_writer_close_run(w);
    at = w->buffer + w->used;
    trace_code_record(at, type, bytes);
    at += sizeof(struct hr_record_header);
    if (body_bytes)
        memcpy(at, body, body_bytes);
    if (tail_bytes)
        memcpy(at + body_bytes, tail, tail_bytes);
    w->used += needed;
    w->header.record_count++;
    if (time != TRACE_NO_TIME)
        trace_writer_note_time(w, time);
    return 0;
}

int trace_writer_lost(struct trace_writer *w, const struct hr_rec_lost *lost)
{
    int status = trace_writer_record(w, HR_REC_LOST, lost->time_first, lost, sizeof *lost, NULL, 0);

    if (status != 0)
        return status;
    trace_writer_note_time(w, lost->time_last);
    w->header.lost_count += lost->count;
    w->lost += lost->count;
    return 0;
}

bool trace_writer_dirty(const struct trace_writer *w)
{
    return w->used != 0 && w->header.record_count > (w->header.type == HR_CHUNK_DATA);
}

uint32_t trace_writer_finish(struct trace_writer *w)
{
    struct hr_chunk_header *header = &w->header;
    const uint8_t *payload = w->buffer + sizeof *header;
    uint32_t length;

    if (w->used == 0)
        return 0;
    trace_writer_close_run(w);
    length = w->used;
    if (header->time_first == TRACE_NO_TIME)
        header->time_first = 0;
    header->sequence = w->sequence++;
    header->payload_bytes = length - (uint32_t)sizeof *header;
    header->payload_crc = crc32c(0, payload, header->payload_bytes);
    header->header_crc = crc32c(0, header, offsetof(struct hr_chunk_header, header_crc));
    memcpy(w->buffer, header, sizeof *header);
    w->used = 0;
    return length;
}
