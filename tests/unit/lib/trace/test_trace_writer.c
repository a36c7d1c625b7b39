/* The trace writer: what it writes comes back, whatever the values, widths and chunk borders. */
#include "lib/trace/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace_reader.h"
#include "tests/unit/test.h"

#define CHUNK_BYTES 8192u
#define SAMPLES 5000u

struct stream { /* writer under test, everything that was sent, and what should come back */
    struct trace_writer w;
    uint8_t buffer[2 * 1024 * 1024];
    uint8_t sent[SAMPLES * 200];
    size_t sent_bytes;
    struct trace_slot expected[SAMPLES];
    uint32_t expected_count;
};

struct shape { /* what read_back found beside the samples */
    uint32_t chunks;
    uint32_t narrow_runs;
    uint32_t wide_runs;
    uint32_t others;
};

static struct stream stream;

static void start(uint32_t capacity, uint32_t event_count)
{
    stream.sent_bytes = 0;
    stream.expected_count = 0;
    trace_writer_init(&stream.w, stream.buffer, capacity, 3, event_count);
    trace_writer_begin(&stream.w, HR_CHUNK_DATA);
}

static void send_chunk(void)
{
    uint32_t bytes = trace_writer_finish(&stream.w);

    assert_in_range(bytes, sizeof(struct hr_chunk_header), stream.w.capacity);
    assert_true(stream.sent_bytes + bytes <= sizeof stream.sent);
    memcpy(stream.sent + stream.sent_bytes, stream.buffer, bytes);
    stream.sent_bytes += bytes;
}

static void add(const struct trace_slot *slot)
{
    int status = trace_writer_sample(&stream.w, slot);

    if (status != 0) {
        assert_int_equal(status, -ENOSPC);
        send_chunk();
        trace_writer_begin(&stream.w, HR_CHUNK_DATA);
        assert_int_equal(trace_writer_sample(&stream.w, slot), 0);
    }
    stream.expected[stream.expected_count++] = *slot;
}

static void expect_sample(const struct trace_slot *got, uint32_t at, uint32_t event_count)
{
    assert_true(at < stream.expected_count);
    assert_memory_equal(got, &stream.expected[at],
                        offsetof(struct trace_slot, counters) + 8 * event_count);
}

/* Decodes one chunk; returns its samples. */
static uint32_t read_chunk(const struct hr_chunk_header *header, const uint8_t *payload,
                           uint32_t event_count, uint32_t at, struct shape *shape)
{
    static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
    struct trace_decoder d;
    struct trace_cursor c;
    struct trace_record r;
    uint32_t records = 0, samples = 0, count;

    trace_decoder_init(&d, event_count);
    trace_cursor_init(&c, payload, header->payload_bytes);
    for (; trace_next(&c, &r) == TRACE_OK; records++) {
        if (r.type == HR_REC_BASE) {
            assert_int_equal(records, 0);
            assert_int_equal(trace_decoder_base(&d, &r), TRACE_OK);
        } else if (r.type == HR_REC_SAMPLES || r.type == HR_REC_SAMPLES_WIDE) {
            assert_int_equal(trace_decoder_samples(&d, &r, slots, TRACE_RUN_SAMPLES_MAX, &count),
                             TRACE_OK);
            for (uint32_t i = 0; i < count; i++)
                expect_sample(&slots[i], at + samples++, event_count);
            shape->narrow_runs += r.type == HR_REC_SAMPLES;
            shape->wide_runs += r.type == HR_REC_SAMPLES_WIDE;
        } else {
            shape->others++;
        }
    }
    assert_int_equal(c.offset, header->payload_bytes);
    assert_int_equal(records, header->record_count);
    assert_int_equal(samples, header->sample_count);
    return samples;
}

static struct shape read_back(uint32_t event_count)
{
    struct shape shape = {0};
    struct hr_chunk_header header;
    uint32_t samples = 0;

    send_chunk();
    for (size_t at = 0; at < stream.sent_bytes; shape.chunks++) {
        const uint8_t *payload = stream.sent + at + sizeof header;

        assert_int_equal(trace_check_header(stream.sent + at, stream.sent_bytes - at, &header),
                         TRACE_OK);
        assert_int_equal(trace_check_payload(&header, payload), TRACE_OK);
        assert_int_equal(header.sequence, shape.chunks);
        assert_int_equal(header.type, HR_CHUNK_DATA);
        assert_int_equal(header.cpu, 3);
        samples += read_chunk(&header, payload, event_count, samples, &shape);
        at += sizeof header + header.payload_bytes;
    }
    assert_int_equal(samples, stream.expected_count);
    assert_int_equal(stream.w.samples, stream.expected_count);
    return shape;
}

static void steady(struct trace_slot *s, struct test_random *random, uint32_t event_count)
{
    s->time += 1000 + test_random_below(random, 8);
    s->ip = 0x401000 + test_random_below(random, 65536);
    s->cost_ticks = (uint16_t)(30 + test_random_below(random, 5));
    for (uint32_t i = 0; i < event_count; i++)
        s->counters[i] += test_random_below(random, 1000);
}

static void steady_stream(void **state)
{
    static const uint32_t event_counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 12, 13};

    (void)state;
    for (size_t k = 0; k < sizeof event_counts / sizeof event_counts[0]; k++) {
        struct test_random random = {k + 1};
        struct trace_slot slot = {.time = 1ull << 40, .tid = 9};
        struct shape shape;

        start(CHUNK_BYTES, event_counts[k]);
        for (uint32_t i = 0; i < SAMPLES; i++) {
            steady(&slot, &random, event_counts[k]);
            add(&slot);
        }
        shape = read_back(event_counts[k]);
        assert_int_equal(shape.wide_runs, 1); /* the first sample is far from the zero base */
        assert_in_range(shape.narrow_runs, 1, shape.chunks + SAMPLES / TRACE_RUN_SAMPLES_MAX);
    }
}

/* Counters narrower than 64 bits that do not start from 0: the trace has whole counts. */
static void narrow_counters(void **state)
{
    static const uint32_t widths[] = {1, 31, 32, 40, 48, 63, 64};
    enum { EVENTS = sizeof widths / sizeof widths[0] };
    struct test_random random = {3};
    struct trace_slot whole = {0}, read = {0};
    uint64_t last[EVENTS];

    (void)state;
    start(TRACE_CHUNK_BYTES_MIN, EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++)
        trace_writer_counter(&stream.w, e, widths[e], 0ull - 1000);
    trace_writer_begin(&stream.w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < 3000; i++) {
        for (uint32_t e = 0; e < EVENTS; e++) {
            uint64_t range = UINT64_MAX >> (64 - widths[e]);
            whole.counters[e] +=
                test_random_next(&random) >> test_random_below(&random, 64) & range;
            read.counters[e] = (whole.counters[e] - 1000) & range;
        }
        trace_writer_extend(&stream.w, read.counters, last); /* a reading after the last sample */
        assert_memory_equal(last, whole.counters, sizeof last);
        add(&read);
        stream.expected[i] = whole;
    }
    assert_in_range(read_back(EVENTS).chunks, 10, 3000); /* whose bases are whole, too */
}

/* Values of every magnitude, so that every width and both kinds of run occur. */
static uint64_t any_value(struct test_random *random)
{
    uint64_t value = test_random_next(random) >> test_random_below(random, 64);

    return test_random_below(random, 2) ? value : 0 - value;
}

static void adversarial_stream(void **state)
{
    (void)state;
    for (uint32_t event_count = 0; event_count <= HR_EVENTS_MAX; event_count++) {
        struct test_random random = {event_count + 77};
        struct trace_slot slot = {0};

        start(TRACE_CHUNK_BYTES_MIN, event_count);
        for (uint32_t i = 0; i < 3000; i++) {
            slot.time += any_value(&random);
            slot.ip = any_value(&random);
            slot.cost_ticks = (uint16_t)test_random_next(&random);
            slot.tid = (uint32_t)test_random_below(&random, 3);
            slot.flags = test_random_below(&random, 9) == 0 ? (uint8_t)~HR_SAMPLE_ASIDE : 0;
            for (uint32_t e = 0; e < event_count; e++)
                slot.counters[e] = any_value(&random);
            add(&slot);
        }
        assert_in_range(read_back(event_count).chunks, 2, 3000);
    }
}

static void field_borders(void **state)
{
    static const uint64_t differences[] = {0,          1,          127,        128,
                                           32767,      32768,      (1u << 23), (1u << 23) - 1,
                                           0x7fffffff, 0x80000000, INT64_MAX,  1ull << 63};
    struct trace_slot slot = {0};

    (void)state;
    start(CHUNK_BYTES, 1);
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        for (int sign = 0; sign < 2; sign++) {
            slot.ip += sign ? 0 - differences[i] : differences[i];
            slot.counters[0] ^= differences[i];
            slot.time -= differences[i];
            add(&slot);
        }
    }
    read_back(1);
}

/* Sample number i of a steady stream, after one that needs a wide run. */
static void add_steps(uint32_t count)
{
    struct trace_slot slot = {.time = 1ull << 32, .tid = 1};

    for (uint32_t i = 0; i < count; i++) {
        slot.time += 1000;
        add(&slot);
    }
}

static void leaves_a_wide_run(void **state)
{
    struct shape shape;

    (void)state;
    /* two wide samples (time, then its difference), 16 that would fit, then narrow */
    start(CHUNK_BYTES, 0);
    add_steps(18);
    shape = read_back(0);
    assert_int_equal(shape.wide_runs, 1);
    assert_int_equal(shape.narrow_runs, 0);
    start(CHUNK_BYTES, 0);
    add_steps(19);
    shape = read_back(0);
    assert_int_equal(shape.wide_runs, 1);
    assert_int_equal(shape.narrow_runs, 1);
}

static void run_limits(void **state)
{
    struct trace_slot slot = {.tid = 1};
    struct test_random random = {5};
    struct shape shape;

    (void)state;
    start(sizeof stream.buffer, 0); /* a narrow run holds TRACE_RUN_SAMPLES_MAX samples */
    for (uint32_t i = 0; i < 2 * TRACE_RUN_SAMPLES_MAX + 1; i++)
        add(&slot);
    shape = read_back(0);
    assert_int_equal(shape.narrow_runs, 3);
    assert_int_equal(shape.wide_runs, 0);
    assert_int_equal(shape.chunks, 1);
    start(sizeof stream.buffer, 13); /* a wide run's body stays below 64 KiB */
    for (uint32_t i = 0; i < 1000; i++) {
        slot.time = test_random_next(&random);
        slot.ip = test_random_next(&random);
        for (uint32_t e = 0; e < 13; e++)
            slot.counters[e] = test_random_next(&random);
        add(&slot);
    }
    shape = read_back(13);
    assert_int_equal(shape.wide_runs, 2); /* of 124 bytes a sample */
    assert_int_equal(shape.chunks, 1);
}

static void thread_and_flags_end_a_run(void **state)
{
    struct trace_slot slot = {.tid = 1};

    (void)state;
    start(CHUNK_BYTES, 0);
    add(&slot);
    slot.tid = 2;
    add(&slot);
    slot.flags = HR_SAMPLE_LATE;
    add(&slot);
    add(&slot);
    assert_int_equal(read_back(0).narrow_runs, 3);
}

static void a_record_ends_a_run(void **state)
{
    const struct hr_rec_lost lost = {.time_first = 500, .time_last = 900, .count = 17};
    const struct hr_rec_lost more = {.time_first = 1, .time_last = 2, .count = 3};
    struct trace_slot slot = {.tid = 1, .time = 100};
    struct hr_chunk_header header;
    struct shape shape;

    (void)state;
    start(CHUNK_BYTES, 2);
    assert_false(trace_writer_dirty(&stream.w));
    add(&slot);
    assert_true(trace_writer_dirty(&stream.w));
    assert_int_equal(trace_writer_lost(&stream.w, &lost), 0);
    slot.time = 1000;
    add(&slot);
    assert_int_equal(trace_writer_lost(&stream.w, &more), 0);
    shape = read_back(2);
    assert_false(trace_writer_dirty(&stream.w));
    assert_int_equal(shape.narrow_runs, 2);
    assert_int_equal(shape.others, 2);
    memcpy(&header, stream.sent, sizeof header);
    assert_int_equal(header.lost_count, 20);
    assert_int_equal(stream.w.lost, 20);
    assert_int_equal(header.time_first, 1);
    assert_int_equal(header.time_last, 1000);
    assert_int_equal(header.record_count, 5);
}

static void record_sizes(void **state)
{
    static uint8_t body[65536];
    struct trace_writer *w = &stream.w;

    (void)state;
    start(TRACE_CHUNK_BYTES_MIN, 13);
    /* room for a record in an empty chunk: 4096 - 64 - (4 + 32 + 104) - 4 */
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 3889, NULL, 0), -EMSGSIZE);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 3000, body, 888), 0);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, NULL, 0, NULL, 0), -ENOSPC);
    assert_int_equal(trace_writer_finish(w), TRACE_CHUNK_BYTES_MIN);
    start(sizeof stream.buffer, 0);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 65536, NULL, 0), -EMSGSIZE);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 1, body, 65535), -EMSGSIZE);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 8, body, UINT32_MAX),
                     -EMSGSIZE);
    assert_int_equal(trace_writer_record(w, 99, TRACE_NO_TIME, body, 65535, NULL, 0), 0);
}

static void payload_limit(void **state)
{
    static uint8_t body[60000];
    int status;

    (void)state;
    start(sizeof stream.buffer, 0); /* larger than a payload may be */
    do
        status = trace_writer_record(&stream.w, 99, 5, body, sizeof body, NULL, 0);
    while (status == 0);
    assert_int_equal(status, -ENOSPC);
    while (trace_writer_record(&stream.w, 99, 5, NULL, 0, NULL, 0) == 0)
        ;
    assert_int_equal(trace_writer_finish(&stream.w),
                     sizeof(struct hr_chunk_header) + HR_CHUNK_PAYLOAD_MAX);
}

static void chunks_without_time(void **state)
{
    struct hr_chunk_header header;
    struct trace_writer *w = &stream.w;

    (void)state;
    trace_writer_init(w, stream.buffer, TRACE_CHUNK_BYTES_MIN, HR_CPU_NONE, 5);
    assert_int_equal(trace_writer_finish(w), 0); /* nothing was begun */
    trace_writer_begin(w, HR_CHUNK_META);
    assert_false(trace_writer_dirty(w));
    assert_int_equal(trace_writer_record(w, HR_META_INFO, TRACE_NO_TIME, "k\0v", 4, NULL, 0), 0);
    assert_true(trace_writer_dirty(w));
    assert_int_equal(trace_writer_finish(w), sizeof header + 4 + 4);
    assert_int_equal(trace_check_header(stream.buffer, 72, &header), TRACE_OK);
    assert_int_equal(header.type, HR_CHUNK_META);
    assert_int_equal(header.cpu, HR_CPU_NONE);
    assert_int_equal(header.time_first, 0);
    assert_int_equal(header.time_last, 0);
    assert_int_equal(header.record_count, 1);
    assert_int_equal(header.sequence, 0);
    trace_writer_begin(w, HR_CHUNK_END);
    assert_int_equal(trace_writer_finish(w), sizeof header);
    assert_int_equal(trace_check_header(stream.buffer, 64, &header), TRACE_OK);
    assert_int_equal(header.sequence, 1);
    assert_int_equal(header.payload_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_stream),
        cmocka_unit_test(narrow_counters),
        cmocka_unit_test(adversarial_stream),
        cmocka_unit_test(field_borders),
        cmocka_unit_test(leaves_a_wide_run),
        cmocka_unit_test(run_limits),
        cmocka_unit_test(thread_and_flags_end_a_run),
        cmocka_unit_test(a_record_ends_a_run),
        cmocka_unit_test(record_sizes),
        cmocka_unit_test(payload_limit),
        cmocka_unit_test(chunks_without_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
