/* What every golden trace has: header, META, END, HOST and INDEX chunks. */
#include "tests/golden/golden_file.h"

#include <stdlib.h>
#include <string.h>

struct golden_file *golden_file_new(uint8_t *out, uint32_t event_count)
{
    struct golden_file *f = calloc(1, sizeof *f);
    struct hr_file_header header;

    if (!f)
        abort();
    f->out = out;
    f->event_count = event_count;
    f->source = HR_SOURCE_STUB;
    trace_file_header(&header);
    memcpy(out, &header, sizeof header);
    f->bytes = sizeof header;
    trace_writer_init(&f->meta, f->buffer, sizeof f->buffer, HR_CPU_NONE, 0);
    trace_writer_init(&f->data, f->data_buffer, sizeof f->data_buffer, 1, event_count);
    trace_writer_init(&f->other, f->buffer, sizeof f->buffer, HR_CPU_NONE, 0);
    return f;
}

void golden_file_stacks(struct golden_file *f, enum hr_stack_kind kind, uint32_t limit)
{
    f->stacks = (struct hr_meta_stacks){.kind = kind, .limit = limit};
    f->stack_memory = malloc(trace_stacks_bytes(kind));
    f->stack_buffer = malloc(TRACE_STACKS_CHUNK_BYTES_MIN);
    if (!f->stack_memory || !f->stack_buffer)
        abort();
    trace_writer_init(&f->data, f->stack_buffer, TRACE_STACKS_CHUNK_BYTES_MIN, 1, f->event_count);
    trace_writer_stacks(&f->data, kind, f->stack_memory);
}

void golden_file_seal(struct golden_file *f, struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);
    const struct hr_chunk_header *h = &w->header;

    if (f->bytes + bytes > GOLDEN_BYTES_MAX || f->chunks == 16)
        abort();
    memcpy(f->out + f->bytes, w->buffer, bytes);
    f->index[f->chunks++] = (struct hr_index_entry){
        .offset = f->bytes,
        .time_first = h->time_first,
        .time_last = h->time_last,
        .lost_count = h->lost_count,
        .sample_count = h->sample_count,
        .payload_bytes = h->payload_bytes,
        .type = h->type,
        .cpu = h->cpu,
        .sequence = h->sequence,
    };
    f->bytes += bytes;
}

void golden_file_put(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
                     size_t body_bytes, const char *tail)
{
    uint32_t tail_bytes = tail ? (uint32_t)strlen(tail) : 0;

    if (trace_writer_record(w, type, time, body, (uint32_t)body_bytes, tail, tail_bytes) != 0)
        abort();
}

static void put_infos(struct trace_writer *w)
{
    static const char *const infos[][2] = {
        {"machine.vendor", "GenuineIntel"},
        {"machine.model", "Golden CPU \xc2\xb5"},
        {"program.path", "/usr/bin/golden"},
        {"program.args", "golden 'two words'"},
        {"boot.entry", "pvh"},
    };

    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
        char body[128];
        size_t key_bytes = strlen(infos[i][0]) + 1;
        size_t value_bytes = strlen(infos[i][1]) + 1;

        memcpy(body, infos[i][0], key_bytes);
        memcpy(body + key_bytes, infos[i][1], value_bytes);
        golden_file_put(w, HR_META_INFO, TRACE_NO_TIME, body, key_bytes + value_bytes, NULL);
    }
}

static void put_events(struct trace_writer *w, uint32_t event_count, enum hr_source last)
{
    static const char *const names[HR_EVENTS_MAX] = {
        "instructions", "cycles",           "branches",  "branch-misses",   "cache-misses",
        "bus-cycles",   "L1-dcache-loads",  "LLC-loads", "LLC-load-misses", "LLC-stores",
        "ref-cycles",   "cache-references", "r01c2"};

    for (uint32_t i = 0; i < event_count; i++) {
        const struct hr_meta_event event = {
            .encoding = i == 12 ? 0x1c2 : 0,
            .index = (uint16_t)i,
            .source = i == 0                 ? HR_SOURCE_ICOUNT
                      : i + 1 == event_count ? last
                                             : HR_SOURCE_STUB,
            .width_bits = 64,
            .flags = HR_EVENT_USER,
        };

        golden_file_put(w, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event, names[i]);
    }
}

void golden_file_meta(struct golden_file *f, enum hr_mode mode)
{
    const struct hr_meta_clock clock = {
        .ticks_per_second = 1000000000,
        .start_ticks = GOLDEN_START_TIME,
        .start_unix_ns = 1700000000000000000,
        .method = HR_CLOCK_VIRTUAL,
    };
    const struct hr_meta_sampling sampling = {
        .interval_ticks = mode == HR_MODE_TIMER ? 1000 : 0,
        .period_events = mode == HR_MODE_OVERFLOW ? 800 : 0,
        .mode = mode,
        .flags = HR_SAMPLING_EMULATED |
                 (mode == HR_MODE_OVERFLOW ? HR_SAMPLING_PAUSED : HR_SAMPLING_SHARED),
        .event_count = f->event_count,
        .ring_slots = 4096,
        .cpu_count = 1,
        .frequency_hz = mode == HR_MODE_OVERFLOW ? 100000 : 0,
    };
    const struct hr_meta_calibration calibration = {.sample_ticks = 150,
                                                    .read_ticks = 30,
                                                    .rounds = 1000,
                                                    .late_ticks =
                                                        mode == HR_MODE_OVERFLOW ? 25 : 0};
    const struct hr_meta_map map = {
        .start = 0x401000,
        .end = 0x480000,
        .file_offset = 0x1000,
        .flags = HR_MAP_READ | HR_MAP_EXEC,
        .build_id_bytes = 4,
        .path_bytes = 15,
    };

    trace_writer_begin(&f->meta, HR_CHUNK_META);
    put_infos(&f->meta);
    golden_file_put(&f->meta, HR_META_CLOCK, TRACE_NO_TIME, &clock, sizeof clock, NULL);
    golden_file_put(&f->meta, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling, NULL);
    put_events(&f->meta, f->event_count, f->source);
    golden_file_put(&f->meta, HR_META_CALIBRATION, TRACE_NO_TIME, &calibration, sizeof calibration,
                    NULL);
    if (f->stacks.kind != 0)
        golden_file_put(&f->meta, HR_META_STACKS, TRACE_NO_TIME, &f->stacks, sizeof f->stacks,
                        NULL);
    golden_file_put(&f->meta, HR_META_MAP, TRACE_NO_TIME, &map, sizeof map,
                    "\xde\xad\xbe\xef/usr/bin/golden");
    golden_file_seal(f, &f->meta);
}

void golden_file_end_records(struct golden_file *f)
{
    const struct hr_rec_exit end = {
        .time = GOLDEN_START_TIME + 1000000,
        .user_ticks = 990000,
        .kind = HR_EXIT_STATUS,
        .code = 3,
        .peak_memory_bytes = 1 << 20,
    };
    const struct hr_rec_stream stream = {
        .samples = f->data.samples, .lost = f->data.lost, .chunks = f->data.sequence, .cpu = 1};

    trace_writer_begin(&f->meta, HR_CHUNK_END);
    golden_file_put(&f->meta, HR_REC_EXIT, end.time, &end, sizeof end, NULL);
    for (uint32_t i = 0; i < f->event_count; i++) {
        const struct hr_rec_total total = {.value = 1000000ull * (i + 1), .index = (uint16_t)i};

        golden_file_put(&f->meta, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL);
    }
    golden_file_put(&f->meta, HR_REC_STREAM, TRACE_NO_TIME, &stream, sizeof stream, NULL);
}

void golden_file_end(struct golden_file *f)
{
    golden_file_end_records(f);
    golden_file_seal(f, &f->meta);
}

size_t golden_file_close(struct golden_file *f)
{
    const struct hr_host_end end = {.wall_ns = 250000000, .reason = HR_HOST_COMPLETE};
    struct hr_index_trailer trailer = {0};
    size_t bytes;

    trace_writer_begin(&f->other, HR_CHUNK_HOST);
    golden_file_put(&f->other, HR_HOST_END, TRACE_NO_TIME, &end, sizeof end, "complete");
    golden_file_seal(f, &f->other);
    memcpy(trailer.magic, HR_TRAILER_MAGIC, sizeof trailer.magic);
    trailer.first_offset = f->bytes;
    trailer.entry_count = f->chunks;
    trace_writer_begin(&f->other, HR_CHUNK_INDEX);
    golden_file_put(&f->other, HR_INDEX_ENTRIES, TRACE_NO_TIME, f->index,
                    f->chunks * sizeof f->index[0], NULL);
    golden_file_put(&f->other, HR_INDEX_TRAILER, TRACE_NO_TIME, &trailer, sizeof trailer, NULL);
    golden_file_seal(f, &f->other);
    bytes = f->bytes;
    free(f->stack_memory);
    free(f->stack_buffer);
    free(f);
    return bytes;
}
