/* Builds the golden traces. */
#include "tests/golden/golden.h"

#include <stdlib.h>
#include <string.h>

#include "lib/crc32c.h"
#include "lib/trace_writer.h"

#define START_TIME 5000000ull

struct file { /* a trace being built */
    uint8_t *out;
    size_t bytes;
    uint32_t event_count;
    uint8_t buffer[16384];
    struct trace_writer meta; /* META and END chunks */
    struct trace_writer data; /* DATA chunks of CPU 1 */
    struct trace_writer other; /* HOST and INDEX chunks */
    uint8_t data_buffer[TRACE_CHUNK_BYTES_MIN];
    struct hr_index_entry index[16];
    uint32_t chunks;
};

static struct file *new_file(uint8_t *out, uint32_t event_count)
{
    struct file *f = calloc(1, sizeof *f);
    struct hr_file_header header;

    if (!f)
        abort();
    f->out = out;
    f->event_count = event_count;
    trace_file_header(&header);
    memcpy(out, &header, sizeof header);
    f->bytes = sizeof header;
    trace_writer_init(&f->meta, f->buffer, sizeof f->buffer, HR_CPU_NONE, 0);
    trace_writer_init(&f->data, f->data_buffer, sizeof f->data_buffer, 1, event_count);
    trace_writer_init(&f->other, f->buffer, sizeof f->buffer, HR_CPU_NONE, 0);
    return f;
}

/* Seals the writer's chunk and appends it to the trace. */
static void seal(struct file *f, struct trace_writer *w)
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

static void put(struct trace_writer *w, uint8_t type, uint64_t time, const void *body,
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
        put(w, HR_META_INFO, TRACE_NO_TIME, body, key_bytes + value_bytes, NULL);
    }
}

static void put_events(struct trace_writer *w, uint32_t event_count)
{
    static const char *const names[HR_EVENTS_MAX] = {
        "instructions", "cycles",           "branches",  "branch-misses",   "cache-misses",
        "bus-cycles",   "L1-dcache-loads",  "LLC-loads", "LLC-load-misses", "LLC-stores",
        "ref-cycles",   "cache-references", "r01c2"};

    for (uint32_t i = 0; i < event_count; i++) {
        const struct hr_meta_event event = {
            .encoding = i == 12 ? 0x1c2 : 0,
            .index = (uint16_t)i,
            .source = i == 0 ? HR_SOURCE_ICOUNT : HR_SOURCE_STUB,
            .width_bits = 64,
            .flags = HR_EVENT_USER,
        };

        put(w, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event, names[i]);
    }
}

static void put_meta(struct file *f, enum hr_mode mode)
{
    const struct hr_meta_clock clock = {
        .ticks_per_second = 1000000000,
        .start_ticks = START_TIME,
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
    put(&f->meta, HR_META_CLOCK, TRACE_NO_TIME, &clock, sizeof clock, NULL);
    put(&f->meta, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling, NULL);
    put_events(&f->meta, f->event_count);
    put(&f->meta, HR_META_CALIBRATION, TRACE_NO_TIME, &calibration, sizeof calibration, NULL);
    put(&f->meta, HR_META_MAP, TRACE_NO_TIME, &map, sizeof map, "\xde\xad\xbe\xef/usr/bin/golden");
    seal(f, &f->meta);
}

static void put_end_records(struct file *f)
{
    const struct hr_rec_exit end = {
        .time = START_TIME + 1000000,
        .user_ticks = 990000,
        .kind = HR_EXIT_STATUS,
        .code = 3,
        .peak_memory_bytes = 1 << 20,
    };
    const struct hr_rec_stream stream = {
        .samples = f->data.samples, .lost = f->data.lost, .chunks = f->data.sequence, .cpu = 1};

    trace_writer_begin(&f->meta, HR_CHUNK_END);
    put(&f->meta, HR_REC_EXIT, end.time, &end, sizeof end, NULL);
    for (uint32_t i = 0; i < f->event_count; i++) {
        const struct hr_rec_total total = {.value = 1000000ull * (i + 1), .index = (uint16_t)i};

        put(&f->meta, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL);
    }
    put(&f->meta, HR_REC_STREAM, TRACE_NO_TIME, &stream, sizeof stream, NULL);
}

static void put_end(struct file *f)
{
    put_end_records(f);
    seal(f, &f->meta);
}

static size_t put_host_and_index(struct file *f)
{
    const struct hr_host_end end = {.wall_ns = 250000000, .reason = HR_HOST_COMPLETE};
    struct hr_index_trailer trailer = {0};
    size_t bytes;

    trace_writer_begin(&f->other, HR_CHUNK_HOST);
    put(&f->other, HR_HOST_END, TRACE_NO_TIME, &end, sizeof end, "complete");
    seal(f, &f->other);
    memcpy(trailer.magic, HR_TRAILER_MAGIC, sizeof trailer.magic);
    trailer.first_offset = f->bytes;
    trailer.entry_count = f->chunks;
    trace_writer_begin(&f->other, HR_CHUNK_INDEX);
    put(&f->other, HR_INDEX_ENTRIES, TRACE_NO_TIME, f->index, f->chunks * sizeof f->index[0], NULL);
    put(&f->other, HR_INDEX_TRAILER, TRACE_NO_TIME, &trailer, sizeof trailer, NULL);
    seal(f, &f->other);
    bytes = f->bytes;
    free(f);
    return bytes;
}

static struct trace_slot golden_sample(uint32_t i)
{
    struct trace_slot s = {
        .time = START_TIME + 1000 * i + (i * 7) % 5,
        .ip = 0x401000 + (i * 37) % 1000,
        .tid = i < 40 ? 1 : 2,
        .cost_ticks = (uint16_t)(30 + i % 3),
        .flags = i % 50 == 49 ? HR_SAMPLE_LATE : 0,
    };

    if (i % 30 == 11) /* far away: needs a wide run */
        s.ip = 0x7ffff7a00000 + i;
    for (uint32_t e = 0; e < HR_EVENTS_MAX; e++)
        s.counters[e] = 800ull * i / (e + 1) + (i * i) % (e + 2);
    return s;
}

static void put_samples_of(struct file *f, struct trace_slot (*sample)(uint32_t i), uint32_t from,
                           uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const struct trace_slot slot = sample(i);

        if (trace_writer_sample(&f->data, &slot) != 0)
            abort();
    }
}

static void put_samples(struct file *f, uint32_t from, uint32_t to)
{
    put_samples_of(f, golden_sample, from, to);
}

static void put_thread_records(struct trace_writer *w)
{
    const struct hr_rec_switch change = {
        .time = START_TIME + 39500, .from_tid = 1, .to_tid = 2, .reason = HR_SWITCH_SLICE};
    const struct hr_rec_syscall call = {
        .time = START_TIME + 39600, .result = 5, .duration_ticks = 44, .tid = 2, .number = 1};
    const struct hr_rec_output output = {
        .time = START_TIME + 39600, .offset = 10, .bytes = 5, .stream = 1};

    put(w, HR_REC_SWITCH, change.time, &change, sizeof change, NULL);
    put(w, HR_REC_SYSCALL, call.time, &call, sizeof call, NULL);
    put(w, HR_REC_OUTPUT, output.time, &output, sizeof output, NULL);
}

static void put_last_records(struct trace_writer *w)
{
    const struct hr_rec_lost lost = {
        .time_first = START_TIME + 80000, .time_last = START_TIME + 83000, .count = 4};
    const struct hr_rec_gap gap = {.time_first = START_TIME + 83000,
                                   .time_last = START_TIME + 90000,
                                   .reason = HR_GAP_SLEEP,
                                   .tid = 2};
    const struct hr_rec_mark mark = {.time = START_TIME + 91000, .tid = 2};
    const struct hr_rec_fault fault = {.time = START_TIME + 92000,
                                       .ip = 0x401234,
                                       .address = 0x10,
                                       .vector = 14,
                                       .error = 6,
                                       .signal = 11,
                                       .tid = 2};

    if (trace_writer_lost(w, &lost) != 0)
        abort();
    put(w, HR_REC_GAP, gap.time_last, &gap, sizeof gap, NULL);
    put(w, HR_REC_MARK, mark.time, &mark, sizeof mark, "phase two");
    put(w, HR_REC_FAULT, fault.time, &fault, sizeof fault, NULL);
}

/* Sampling off: what every trace has. */
static size_t build_off(uint8_t *out)
{
    struct file *f = new_file(out, 0);

    put_meta(f, HR_MODE_OFF);
    put_end(f);
    return put_host_and_index(f);
}

/* Two chunks of samples with every record type between them. */
static size_t build_samples(uint8_t *out, uint32_t event_count)
{
    struct file *f = new_file(out, event_count);

    put_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 0, 40);
    put_thread_records(&f->data);
    put_samples(f, 40, 60);
    seal(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 60, 80);
    put_last_records(&f->data);
    seal(f, &f->data);
    put_end(f);
    return put_host_and_index(f);
}

static size_t build_events0(uint8_t *out)
{
    return build_samples(out, 0);
}

static size_t build_events5(uint8_t *out)
{
    return build_samples(out, 5);
}

static size_t build_events13(uint8_t *out)
{
    return build_samples(out, 13);
}

/* Samples as counter overflows and the program's own calls make them. */
static struct trace_slot trigger_sample(uint32_t i)
{
    struct trace_slot s = golden_sample(i);

    s.flags = i % 10 == 3 ? HR_SAMPLE_POLLED : i % 10 == 7 ? HR_SAMPLE_KERNEL : 0;
    if (i == 30)
        s.flags = HR_SAMPLE_RESUMED;
    return s;
}

/* Three passes: 5 and 6 events, then 100; buckets 5, 6 and 22. */
static void put_region(struct trace_writer *w, uint16_t event)
{
    uint64_t buckets[23] = {[5] = 1, [6] = 1, [22] = 1};
    const struct hr_rec_region region = {
        .passes = 3,
        .sum = 111,
        .min = 5,
        .max = 100,
        .event = event,
        .bucket_count = sizeof buckets / sizeof buckets[0],
        .name_bytes = 5,
        .threads = 1,
    };
    char tail[sizeof buckets + 5];

    memcpy(tail, buckets, sizeof buckets);
    memcpy(tail + sizeof buckets, "parse", 5);
    if (trace_writer_record(w, HR_REC_REGION, TRACE_NO_TIME, &region, sizeof region, tail,
                            sizeof tail) != 0)
        abort();
}

/* What version 1.1 added: periods, regions, interrupts, flags of samples. */
static size_t build_triggers(uint8_t *out)
{
    const struct hr_rec_period period = {.time = START_TIME + 19500, .period = 640};
    const struct hr_rec_gap gap = {.time_first = START_TIME + 29100,
                                   .time_last = START_TIME + 29900,
                                   .reason = HR_GAP_WAIT,
                                   .tid = 1};
    const struct hr_rec_nmi nmi = {.samples = 36, .spurious = 2, .unknown = 1, .cpu = 1};
    struct file *f = new_file(out, 2);

    put_meta(f, HR_MODE_OVERFLOW);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples_of(f, trigger_sample, 0, 20);
    put(&f->data, HR_REC_PERIOD, period.time, &period, sizeof period, NULL);
    put_samples_of(f, trigger_sample, 20, 30);
    put(&f->data, HR_REC_GAP, gap.time_last, &gap, sizeof gap, NULL);
    put_samples_of(f, trigger_sample, 30, 40);
    seal(f, &f->data);
    put_end_records(f);
    put_region(&f->meta, HR_REGION_TICKS);
    put_region(&f->meta, 1);
    put(&f->meta, HR_REC_NMI, TRACE_NO_TIME, &nmi, sizeof nmi, NULL);
    seal(f, &f->meta);
    return put_host_and_index(f);
}

static void put_unknown_chunk(struct file *f)
{
    trace_writer_begin(&f->other, (enum hr_chunk_type)77);
    put(&f->other, 1, START_TIME, "a record of an unknown chunk", 28, NULL);
    seal(f, &f->other);
}

/* As a later minor version may write: unknown records and chunks, longer bodies and headers. */
static size_t build_newer(uint8_t *out)
{
    struct file *f = new_file(out, 2);
    struct hr_file_header header;
    const struct hr_rec_gap gap = {.time_first = START_TIME, .time_last = START_TIME + 1};

    memcpy(&header, out, sizeof header);
    header.version_minor = 9;
    header.header_bytes = 80;
    header.reserved[0] = 0x12345678;
    header.crc = crc32c(0, &header, offsetof(struct hr_file_header, crc));
    memcpy(out, &header, sizeof header);
    memset(out + sizeof header, 0xee, 16);
    f->bytes += 16;
    put_meta(f, HR_MODE_TIMER);
    put_unknown_chunk(f);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put(&f->data, 250, START_TIME, "unknown", 7, NULL);
    put_samples(f, 0, 10);
    put(&f->data, HR_REC_GAP, START_TIME, &gap, sizeof gap, "and new fields");
    put_samples(f, 10, 20);
    seal(f, &f->data);
    put_end(f);
    return put_host_and_index(f);
}

const struct golden golden_table[] = {
    {"off", 0, 0, build_off, golden_sample},
    {"events0", 0, 80, build_events0, golden_sample},
    {"events5", 5, 80, build_events5, golden_sample},
    {"events13", 13, 80, build_events13, golden_sample},
    {"triggers", 2, 40, build_triggers, trigger_sample},
    {"newer", 2, 20, build_newer, golden_sample},
    {NULL, 0, 0, NULL, NULL},
};
