/* Hits of probes: what the writer writes comes back, among samples and records, at chunk borders
 * and after damage. */
#include "lib/trace/trace_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace_code.h"
#include "lib/trace/trace_writer.h"
#include "tests/unit/test.h"

#define HITS 4000u
#define VALUES_MAX (HR_EVENTS_MAX + HR_PROBE_ARGUMENTS_MAX)

union room { /* a slot with all arguments */
    struct trace_slot slot;
    uint8_t bytes[192];
};

struct stream {
    struct trace_writer w;
    uint8_t buffer[1024 * 1024 + 64];
    uint8_t sent[HITS * 400];
    size_t sent_bytes;
    uint32_t event_count, argument_count;
    struct trace_hit expected[HITS];
    uint32_t hits;
    struct trace_slot samples[HITS];
    uint32_t sample_count;
};

struct shape {
    uint32_t chunks, narrow, wide, others;
};

static struct stream stream;

static void start(uint32_t capacity, uint32_t event_count, uint32_t argument_count)
{
    memset(&stream, 0, sizeof stream);
    stream.event_count = event_count;
    stream.argument_count = argument_count;
    trace_writer_init(&stream.w, stream.buffer, capacity, 2, event_count);
    trace_writer_probes(&stream.w, argument_count);
    trace_writer_begin(&stream.w, HR_CHUNK_DATA);
}

static void send_chunk(void)
{
    uint32_t bytes = trace_writer_finish(&stream.w);

    assert_true(stream.sent_bytes + bytes <= sizeof stream.sent);
    memcpy(stream.sent + stream.sent_bytes, stream.buffer, bytes);
    stream.sent_bytes += bytes;
}

static void put_slot(union room *room, const struct trace_hit *hit)
{
    uint8_t *values = room->bytes + offsetof(struct trace_slot, counters);

    memset(room, 0, sizeof *room);
    room->slot.kind = HR_REC_PROBES;
    room->slot.time = hit->time;
    room->slot.ip = hit->sp;
    room->slot.tid = hit->tid;
    trace_slot_set_point(&room->slot, hit->point, hit->what);
    memcpy(values, hit->counters, 8 * stream.event_count);
    memcpy(values + 8 * stream.event_count, hit->arguments, 8 * stream.argument_count);
}

static void add_as(const struct trace_hit *hit, const struct trace_hit *expected)
{
    union room room;

    put_slot(&room, hit);
    if (trace_writer_probe(&stream.w, &room.slot) != 0) {
        send_chunk();
        trace_writer_begin(&stream.w, HR_CHUNK_DATA);
        assert_int_equal(trace_writer_probe(&stream.w, &room.slot), 0);
    }
    stream.expected[stream.hits++] = *expected;
}

static void add(const struct trace_hit *hit)
{
    add_as(hit, hit);
}

static void add_sample(const struct trace_slot *slot, const struct trace_slot *expected)
{
    if (trace_writer_sample(&stream.w, slot) != 0) {
        send_chunk();
        trace_writer_begin(&stream.w, HR_CHUNK_DATA);
        assert_int_equal(trace_writer_sample(&stream.w, slot), 0);
    }
    stream.samples[stream.sample_count++] = *expected;
}

static void expect_hit(const struct trace_hit *got, const struct trace_hit *want)
{
    assert_memory_equal(got, want, offsetof(struct trace_hit, counters));
    assert_memory_equal(got->counters, want->counters, 8 * stream.event_count);
    assert_memory_equal(got->arguments, want->arguments, 8 * stream.argument_count);
}

struct reader {
    struct trace_decoder d;
    struct trace_probes_decoder p;
    uint32_t hits, samples;
    struct shape shape;
};

static void read_record(struct reader *r, const struct trace_record *record)
{
    static struct trace_hit hits[TRACE_RUN_SAMPLES_MAX];
    static struct trace_slot slots[TRACE_RUN_SAMPLES_MAX];
    uint32_t count;

    if (record->type == HR_REC_BASE) {
        assert_int_equal(trace_decoder_base(&r->d, record), TRACE_OK);
        trace_probes_decoder_begin(&r->p, stream.argument_count, &r->d);
    } else if (record->type == HR_REC_PROBES || record->type == HR_REC_PROBES_WIDE) {
        assert_int_equal(
            trace_probes_decoder_hits(&r->p, record, hits, TRACE_RUN_SAMPLES_MAX, &count),
            TRACE_OK);
        for (uint32_t i = 0; i < count; i++)
            expect_hit(&hits[i], &stream.expected[r->hits++]);
        r->shape.narrow += record->type == HR_REC_PROBES;
        r->shape.wide += record->type == HR_REC_PROBES_WIDE;
    } else if (record->type == HR_REC_SAMPLES || record->type == HR_REC_SAMPLES_WIDE) {
        assert_int_equal(trace_decoder_samples(&r->d, record, slots, TRACE_RUN_SAMPLES_MAX, &count),
                         TRACE_OK);
        for (uint32_t i = 0; i < count; i++)
            assert_memory_equal(&slots[i], &stream.samples[r->samples++],
                                offsetof(struct trace_slot, counters) + 8 * stream.event_count);
    } else {
        r->shape.others++;
    }
}

static struct shape read_back(void)
{
    struct reader r = {.hits = 0};
    struct hr_chunk_header header;
    struct trace_record record;
    struct trace_cursor cursor;
    uint32_t samples = 0;

    send_chunk();
    for (size_t at = 0; at < stream.sent_bytes; r.shape.chunks++) {
        uint32_t records = 0;
        uint64_t first = r.hits;

        assert_int_equal(trace_check_header(stream.sent + at, stream.sent_bytes - at, &header),
                         TRACE_OK);
        at += sizeof header;
        assert_int_equal(trace_check_payload(&header, stream.sent + at), TRACE_OK);
        trace_decoder_init(&r.d, stream.event_count);
        trace_cursor_init(&cursor, stream.sent + at, header.payload_bytes);
        for (; trace_next(&cursor, &record) == TRACE_OK; records++)
            read_record(&r, &record);
        assert_int_equal(records, header.record_count);
        samples += header.sample_count;
        for (; first < r.hits; first++)
            assert_in_range(stream.expected[first].time, header.time_first, header.time_last);
        at += header.payload_bytes;
    }
    assert_int_equal(r.hits, stream.hits);
    assert_int_equal(samples, r.samples);
    assert_int_equal(r.samples, stream.sample_count);
    assert_int_equal(stream.w.samples, stream.sample_count);
    return r.shape;
}

static void a_slot_holds_every_point(void **state)
{
    struct trace_slot slot = {0};

    (void)state;
    for (uint32_t point = 0; point < 1u << 22; point += 4093)
        for (uint32_t what = 0; what < 4; what++) {
            trace_slot_set_point(&slot, point, what);
            assert_int_equal(trace_slot_point(&slot), 4 * point + what);
        }
    assert_int_equal(trace_slot_bytes(5), 64);
    assert_int_equal(trace_slot_bytes(6), 128);
    assert_int_equal(trace_slot_bytes(13), 128);
    assert_int_equal(trace_slot_bytes(19), 192);
}

static void steady(struct trace_hit *hit, struct test_random *random)
{
    hit->time += 300 + test_random_below(random, 50);
    hit->sp = 0x7ffff000 - 8 * test_random_below(random, 100);
    hit->point = (uint32_t)test_random_below(random, 40);
    hit->what = 1 + (uint32_t)test_random_below(random, 3);
    for (uint32_t i = 0; i < stream.event_count; i++)
        hit->counters[i] += test_random_below(random, 1000);
    for (uint32_t i = 0; i < stream.argument_count; i++)
        hit->arguments[i] = test_random_below(random, 100000);
}

static void steady_stream(void **state)
{
    static const uint32_t event_counts[] = {0, 1, 4, 5, 6, 13};

    (void)state;
    for (size_t k = 0; k < sizeof event_counts / sizeof event_counts[0]; k++)
        for (uint32_t arguments = 0; arguments <= HR_PROBE_ARGUMENTS_MAX; arguments++) {
            struct test_random random = {k + 1};
            struct trace_hit hit = {.time = 1ull << 40, .tid = 9};
            struct shape shape;

            start(8192, event_counts[k], arguments);
            for (uint32_t i = 0; i < 1000; i++) {
                steady(&hit, &random);
                add(&hit);
            }
            shape = read_back();
            assert_int_equal(shape.wide, shape.chunks); /* the base is far from the first hit */
            assert_in_range(shape.narrow, shape.chunks - 1, shape.chunks);
        }
}

static uint64_t any_value(struct test_random *random)
{
    uint64_t value = test_random_next(random) >> test_random_below(random, 64);

    return test_random_below(random, 2) ? value : 0 - value;
}

static void any_hit(struct trace_hit *hit, struct test_random *random)
{
    hit->time += any_value(random);
    hit->sp = any_value(random);
    hit->tid = (uint32_t)test_random_below(random, 3);
    hit->point = (uint32_t)test_random_below(random, HR_PROBE_POINTS_MAX);
    hit->what = (uint32_t)test_random_below(random, 4);
    for (uint32_t i = 0; i < HR_PROBE_ARGUMENTS_MAX; i++)
        hit->arguments[i] = any_value(random);
}

/* Values of every magnitude, among samples and records. */
static void adversarial_stream(void **state)
{
    (void)state;
    for (uint32_t events = 0; events <= HR_EVENTS_MAX; events++) {
        struct test_random random = {events + 5};
        struct trace_hit hit = {0};
        struct shape shape;
        uint32_t records = 0;

        start(TRACE_CHUNK_BYTES_MIN, events, events % (HR_PROBE_ARGUMENTS_MAX + 1));
        for (uint32_t i = 0; i < 3000; i++) {
            struct trace_slot sample = {.time = hit.time, .tid = hit.tid};

            any_hit(&hit, &random);
            for (uint32_t e = 0; e < events; e++)
                hit.counters[e] = any_value(&random);
            if (test_random_below(&random, 4) == 0) {
                memcpy(sample.counters, hit.counters, sizeof sample.counters);
                add_sample(&sample, &sample);
            } else if (test_random_below(&random, 8) == 0) {
                records +=
                    trace_writer_record(&stream.w, HR_REC_MARK, hit.time, &hit, 20, NULL, 0) == 0;
            } else {
                add(&hit);
            }
        }
        shape = read_back();
        assert_in_range(shape.chunks, 2, 3000);
        assert_int_equal(shape.others, records);
    }
}

/* Counters that are narrower than 64 bits and do not start from 0 become whole counts; for hits the
 * latest sample helps. */
static void narrow_counters(void **state)
{
    static const uint32_t widths[] = {2, 32, 40, 48, 64};
    enum { EVENTS = sizeof widths / sizeof widths[0] };
    struct test_random random = {3};
    struct trace_hit whole = {.tid = 1}, read = {.tid = 1};
    uint64_t last[EVENTS];

    (void)state;
    start(TRACE_CHUNK_BYTES_MIN, EVENTS, 1);
    for (uint32_t e = 0; e < EVENTS; e++)
        trace_writer_counter(&stream.w, e, widths[e], 0ull - 1000);
    trace_writer_begin(&stream.w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < 3000; i++) {
        bool is_sample = i / 20 % 3 != 0; /* 20 hits, then 40 samples */

        whole.time = read.time = i * 1000;
        for (uint32_t e = 0; e < EVENTS; e++) {
            uint64_t range = UINT64_MAX >> (64 - widths[e]);
            uint64_t step = range / 25; /* 20 are less than a range, 40 are more */

            whole.counters[e] += step ? test_random_next(&random) % step : 0;
            read.counters[e] = (whole.counters[e] - 1000) & range;
        }
        trace_writer_extend(&stream.w, read.counters, last);
        assert_memory_equal(last, whole.counters, sizeof last);
        if (is_sample) {
            struct trace_slot a = {.time = i * 1000, .tid = 1}, b = a;

            memcpy(a.counters, read.counters, sizeof a.counters);
            memcpy(b.counters, whole.counters, sizeof b.counters);
            add_sample(&a, &b);
        } else {
            add_as(&read, &whole);
        }
    }
    assert_in_range(read_back().chunks, 5, 3000);
}

/* A run stays open while hits of one thread come. */
static void what_ends_a_run(void **state)
{
    struct trace_hit hit = {.tid = 1, .point = 3, .what = HR_PROBE_ENTERED};
    struct trace_slot sample = {.tid = 1};

    (void)state;
    start(8192, 0, 0);
    for (int i = 0; i < 10; i++)
        add(&hit);
    assert_int_equal(read_back().narrow, 1);
    start(8192, 0, 0);
    add(&hit);
    hit.tid = 2;
    add(&hit); /* another thread */
    add_sample(&sample, &sample);
    add(&hit); /* after a sample */
    assert_int_equal(trace_writer_record(&stream.w, HR_REC_MARK, 0, &hit, 8, NULL, 0), 0);
    add(&hit); /* after a record */
    add(&hit);
    assert_int_equal(read_back().narrow, 4);
}

static void run_limits(void **state)
{
    struct test_random random = {9};
    struct trace_hit hit = {.tid = 1};
    struct shape shape;

    (void)state;
    start(sizeof stream.buffer - 64, 0, 0);
    for (uint32_t i = 0; i < 2 * TRACE_RUN_SAMPLES_MAX + 1; i++)
        add(&hit);
    assert_int_equal(read_back().narrow, 3);
    start(sizeof stream.buffer - 64, HR_EVENTS_MAX, HR_PROBE_ARGUMENTS_MAX);
    for (uint32_t i = 0; i < 1000; i++) {
        hit.time = test_random_next(&random);
        for (uint32_t e = 0; e < HR_EVENTS_MAX; e++)
            hit.counters[e] = test_random_next(&random);
        for (uint32_t e = 0; e < HR_PROBE_ARGUMENTS_MAX; e++)
            hit.arguments[e] = test_random_next(&random);
        add(&hit);
    }
    shape = read_back();
    assert_int_equal(shape.wide, 3); /* of at most 182 bytes a hit, in at most 65535 */
    assert_int_equal(shape.chunks, 1);
}

/* A refused hit leaves the state alone: it can be added to the next chunk. */
static void a_full_chunk_refuses(void **state)
{
    struct trace_hit hit = {.tid = 1};
    union room room;
    uint32_t added = 0;

    (void)state;
    start(TRACE_CHUNK_BYTES_MIN, 5, 1);
    hit.time = 1;
    put_slot(&room, &hit);
    while (trace_writer_probe(&stream.w, &room.slot) == 0)
        added++;
    assert_int_equal(trace_writer_probe(&stream.w, &room.slot), -ENOSPC);
    assert_in_range(added, 1000, 4000);
    assert_true(trace_writer_dirty(&stream.w));
}

struct victim { /* a record of 50 hits, and the decoder before it */
    struct trace_probes_decoder p;
    uint8_t body[65536];
    struct trace_record record;
};

static void make_victim(struct victim *v, bool wide)
{
    struct test_random random = {17};
    struct trace_hit hit = {.tid = 1};
    struct trace_decoder d;
    struct trace_cursor cursor;
    struct trace_record record;

    start(65536, 5, 2);
    for (uint32_t i = 0; i < 70; i++) {
        if (wide)
            any_hit(&hit, &random);
        else
            steady(&hit, &random);
        hit.tid = 1;
        add(&hit);
    }
    trace_writer_finish(&stream.w);
    trace_decoder_init(&d, 5);
    trace_cursor_init(&cursor, stream.buffer + sizeof(struct hr_chunk_header),
                      stream.w.header.payload_bytes);
    while (trace_next(&cursor, &record) == TRACE_OK) {
        if (record.type == HR_REC_BASE) {
            assert_int_equal(trace_decoder_base(&d, &record), TRACE_OK);
            trace_probes_decoder_begin(&v->p, 2, &d);
        } else if (record.type == (wide ? HR_REC_PROBES_WIDE : HR_REC_PROBES)) {
            memcpy(v->body, record.body, record.bytes);
            v->record = record;
            return;
        }
    }
    fail();
}

/* Whatever happens to a record, it decodes within its bytes and its points are in range; a
 * record that does not decode changes nothing. */
static void damage(void **state)
{
    static struct victim v;
    static struct trace_hit hits[TRACE_RUN_SAMPLES_MAX];
    struct test_random random = {1};
    uint32_t bad = 0, good = 0;

    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        struct trace_probes_decoder before;
        struct trace_record r;
        uint8_t *exact;
        uint32_t count = 77;

        if (round % 10000 == 0)
            make_victim(&v, round != 0);
        r = v.record;
        r.bytes = test_random_below(&random, 2) ? r.bytes
                                                : (uint16_t)test_random_below(&random, r.bytes + 1);
        exact = malloc(r.bytes ? r.bytes : 1); /* the sanitizer sees a byte too far */
        memcpy(exact, v.body, r.bytes);
        r.body = exact;
        for (uint64_t n = test_random_below(&random, 4); n > 0 && r.bytes > 0; n--)
            exact[test_random_below(&random, r.bytes)] ^=
                (uint8_t)(1 << test_random_below(&random, 8));
        before = v.p;
        if (trace_probes_decoder_hits(&v.p, &r, hits, TRACE_RUN_SAMPLES_MAX, &count) == TRACE_OK) {
            good++;
            for (uint32_t i = 0; i < count; i++)
                assert_true(hits[i].point < HR_PROBE_POINTS_MAX && hits[i].what <= 3);
        } else {
            bad++;
            assert_int_equal(count, 0);
            assert_memory_equal(&before, &v.p, sizeof before);
        }
        v.p = before;
        free(exact);
    }
    assert_true(bad > 1000 && good > 1000);
}

static void refusals(void **state)
{
    static struct victim v;
    struct trace_hit hits[2];
    struct trace_probes_decoder none;
    struct trace_decoder base;
    uint32_t count;

    (void)state;
    make_victim(&v, false);
    assert_int_equal(trace_probes_decoder_hits(&v.p, &v.record, hits, 2, &count), TRACE_BAD_LENGTH);
    assert_int_equal(count, 0);
    trace_decoder_init(&base, 5); /* without a base */
    trace_probes_decoder_begin(&none, 2, &base);
    assert_int_equal(trace_probes_decoder_hits(&none, &v.record, hits, 2, &count),
                     TRACE_BAD_RECORD);
    base.has_base = 1; /* more arguments than there can be */
    trace_probes_decoder_begin(&none, HR_PROBE_ARGUMENTS_MAX + 1, &base);
    assert_int_equal(trace_probes_decoder_hits(&none, &v.record, hits, 2, &count),
                     TRACE_BAD_RECORD);
    v.record.type = HR_REC_SAMPLES;
    assert_int_equal(trace_probes_decoder_hits(&v.p, &v.record, hits, 2, &count), TRACE_BAD_RECORD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_holds_every_point),
        cmocka_unit_test(steady_stream),
        cmocka_unit_test(adversarial_stream),
        cmocka_unit_test(narrow_counters),
        cmocka_unit_test(what_ends_a_run),
        cmocka_unit_test(run_limits),
        cmocka_unit_test(a_full_chunk_refuses),
        cmocka_unit_test(damage),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
