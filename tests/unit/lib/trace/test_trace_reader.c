/* The trace reader: every status, every truncation, and hostile sample records. */
#include "lib/trace/trace_reader.h"

#include <stdlib.h>
#include <string.h>

#include "lib/crc32c.h"
#include "lib/trace/trace_writer.h"
#include "tests/unit/test.h"

#define EVENTS 5u

static void file_header(void **state)
{
    struct hr_file_header h;
    uint32_t first = 0;

    (void)state;
    trace_file_header(&h);
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_OK);
    assert_int_equal(first, 64);
    for (size_t available = 0; available < sizeof h; available++)
        assert_int_equal(trace_check_file(&h, available, &first), TRACE_SHORT);
    assert_int_equal(trace_check_file("\x89hr", 3, &first), TRACE_SHORT);
    assert_int_equal(trace_check_file("PK", 2, &first), TRACE_BAD_MAGIC);
    h.reserved[3] = 1; /* covered by the checksum, otherwise ignored */
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_BAD_CHECKSUM);
    h.crc = crc32c(0, &h, 60);
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_OK);
    h.version_minor = 999;
    h.header_bytes = 128;
    h.crc = crc32c(0, &h, 60);
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_OK);
    assert_int_equal(first, 128);
    h.header_bytes = 63;
    h.crc = crc32c(0, &h, 60);
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_BAD_LENGTH);
    h.version_major = 2;
    h.crc = crc32c(0, &h, 60);
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_BAD_VERSION);
    h.magic[7] = '\r';
    assert_int_equal(trace_check_file(&h, sizeof h, &first), TRACE_BAD_MAGIC);
}

static void chunk_header(void **state)
{
    static uint8_t buffer[TRACE_CHUNK_BYTES_MIN];
    struct hr_chunk_header h, got;
    struct trace_writer w;
    uint32_t bytes;

    (void)state;
    trace_writer_init(&w, buffer, sizeof buffer, 0, EVENTS);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    bytes = trace_writer_finish(&w);
    for (size_t available = 0; available < sizeof h; available++)
        assert_int_equal(trace_check_header(buffer, available, &got), TRACE_SHORT);
    assert_int_equal(trace_check_header(buffer, sizeof h, &got), TRACE_OK);
    assert_int_equal(trace_check_payload(&got, buffer + sizeof h), TRACE_OK);
    for (size_t at = 0; at < bytes; at++) { /* every flipped bit is noticed */
        uint8_t bit = (uint8_t)(1u << (at % 8));
        enum trace_status expected = at < 4 ? TRACE_BAD_MAGIC : TRACE_BAD_CHECKSUM;
        enum trace_status status;

        buffer[at] ^= bit;
        status = trace_check_header(buffer, bytes, &got);
        if (status == TRACE_OK)
            status = trace_check_payload(&got, buffer + sizeof h);
        buffer[at] ^= bit;
        assert_int_equal(status, expected);
    }
    memcpy(&h, buffer, sizeof h);
    h.payload_bytes = HR_CHUNK_PAYLOAD_MAX + 1;
    h.header_crc = crc32c(0, &h, 60);
    assert_int_equal(trace_check_header(&h, sizeof h, &got), TRACE_BAD_LENGTH);
    assert_int_equal(trace_check_header("HRCX", 4, &got), TRACE_BAD_MAGIC);
}

static void records(void **state)
{
    static const uint8_t payload[] = {200, 0, 0, 0, 35, 9, 2, 0, 'a', 'b', 1, 0, 1, 0};
    struct trace_cursor c;
    struct trace_record r;

    (void)state;
    trace_cursor_init(&c, payload, 10);
    assert_int_equal(trace_next(&c, &r), TRACE_OK);
    assert_int_equal(r.type, 200);
    assert_int_equal(r.bytes, 0);
    assert_int_equal(trace_next(&c, &r), TRACE_OK);
    assert_int_equal(r.type, 35);
    assert_int_equal(r.offset, 4);
    assert_memory_equal(r.body, "ab", 2);
    assert_int_equal(trace_next(&c, &r), TRACE_END);
    assert_int_equal(trace_next(&c, &r), TRACE_END);
    for (uint32_t bytes = 11; bytes <= 14; bytes++) { /* a header cut off, then a body */
        trace_cursor_init(&c, payload, bytes);
        assert_int_equal(trace_next(&c, &r), TRACE_OK);
        assert_int_equal(trace_next(&c, &r), TRACE_OK);
        assert_int_equal(trace_next(&c, &r), TRACE_BAD_LENGTH);
        assert_int_equal(c.offset, 10);
        assert_int_equal(trace_next(&c, &r), TRACE_BAD_LENGTH);
    }
}

static void bodies(void **state)
{
    const struct trace_record r = {.bytes = 5, .body = (const uint8_t *)"abcde"};
    const uint8_t *tail;
    size_t tail_bytes;
    char out[6] = {0};

    (void)state;
    assert_true(trace_body(&r, out, 3, &tail, &tail_bytes));
    assert_string_equal(out, "abc");
    assert_int_equal(tail_bytes, 2);
    assert_memory_equal(tail, "de", 2);
    assert_true(trace_body(&r, out, 5, NULL, NULL));
    assert_string_equal(out, "abcde");
    assert_false(trace_body(&r, out, 6, NULL, NULL));
}

/* A record in a block of exactly its size, so that ASan sees any read past it. */
static struct trace_record make_record(uint8_t type, const void *body, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    struct trace_record r = {.type = type, .bytes = (uint16_t)bytes, .body = copy};

    assert_non_null(copy);
    memcpy(copy, body, bytes);
    return r;
}

static void free_record(struct trace_record *r)
{
    free((uint8_t *)(uintptr_t)r->body);
}

static enum trace_status give_base(struct trace_decoder *d, uint32_t event_count, uint32_t cost,
                                   size_t bytes)
{
    uint8_t body[sizeof(struct hr_rec_base) + 8 * 20] = {0};
    const struct hr_rec_base base = {
        .time = 10, .interval = 5, .ip = 100, .cost_ticks = cost, .event_count = event_count};
    struct trace_record r;
    enum trace_status status;

    memcpy(body, &base, sizeof base);
    r = make_record(HR_REC_BASE, body, bytes);
    status = trace_decoder_base(d, &r);
    free_record(&r);
    return status;
}

static void base_record(void **state)
{
    const size_t fixed = sizeof(struct hr_rec_base);
    struct trace_decoder d;

    (void)state;
    trace_decoder_init(&d, 2);
    assert_int_equal(give_base(&d, 2, 0, fixed + 15), TRACE_BAD_RECORD);
    assert_int_equal(give_base(&d, 2, 0, fixed - 1), TRACE_BAD_RECORD);
    assert_int_equal(give_base(&d, 3, 0, fixed + 24), TRACE_BAD_RECORD);
    assert_int_equal(give_base(&d, 1, 0, fixed + 16), TRACE_BAD_RECORD);
    assert_int_equal(give_base(&d, 2, 65536, fixed + 16), TRACE_BAD_RECORD);
    assert_false(d.has_base);
    assert_int_equal(give_base(&d, 2, 65535, fixed + 16), TRACE_OK);
    assert_int_equal(give_base(&d, 2, 0, fixed + 40), TRACE_OK); /* a newer minor version's */
    assert_true(d.has_base);
    trace_decoder_init(&d, HR_EVENTS_MAX + 1);
    assert_int_equal(give_base(&d, HR_EVENTS_MAX + 1, 0, fixed + 8 * 20), TRACE_BAD_RECORD);
}

static enum trace_status decode(struct trace_decoder *d, uint8_t type, const void *body,
                                size_t bytes, uint32_t room, uint32_t *count)
{
    struct trace_slot *slots = malloc((room ? room : 1) * sizeof *slots);
    struct trace_record r = make_record(type, body, bytes);
    enum trace_status status = trace_decoder_samples(d, &r, slots, room, count);

    assert_non_null(slots);
    free_record(&r);
    free(slots);
    return status;
}

static void sample_records(void **state)
{
    /* tid 1, no flags, two samples without events: control 1 byte, fields all 0; then time +1 */
    static const uint8_t two[] = {1, 0, 0, 0, 0, 0, 2, 0, 0x00, 0x01, 0x02};
    uint8_t body[64] = {0};
    struct trace_decoder d;
    uint32_t count = 99;

    (void)state;
    trace_decoder_init(&d, 0);
    assert_int_equal(decode(&d, HR_REC_SAMPLES, two, sizeof two, 2, &count), TRACE_BAD_RECORD);
    assert_int_equal(count, 0);
    give_base(&d, 0, 0, sizeof(struct hr_rec_base));
    assert_int_equal(decode(&d, HR_REC_SAMPLES, two, sizeof two, 1, &count), TRACE_BAD_LENGTH);
    for (size_t bytes = 0; bytes < sizeof two; bytes++)
        assert_int_equal(decode(&d, HR_REC_SAMPLES, two, bytes, 2, &count), TRACE_BAD_RECORD);
    memcpy(body, two, sizeof two);
    assert_int_equal(decode(&d, HR_REC_SAMPLES, body, sizeof two + 1, 2, &count),
                     TRACE_BAD_RECORD); /* a byte too many */
    assert_int_equal(decode(&d, HR_REC_SAMPLES, body, 64, 2, &count), TRACE_BAD_RECORD);
    body[6] = 0;
    assert_int_equal(decode(&d, HR_REC_SAMPLES, body, 8, 2, &count), TRACE_BAD_RECORD);
    assert_int_equal(decode(&d, HR_REC_SYSCALL, two, sizeof two, 2, &count), TRACE_BAD_RECORD);
    assert_int_equal(d.previous.time, 10); /* failures left the state alone */
    assert_int_equal(d.interval, 5);
    assert_int_equal(decode(&d, HR_REC_SAMPLES, two, sizeof two, 2, &count), TRACE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(d.previous.time, 21);
    assert_int_equal(d.interval, 6);
}

static void too_many_samples(void **state)
{
    static uint8_t body[8 + TRACE_RUN_SAMPLES_MAX + 1];
    struct trace_decoder d;
    uint32_t count;

    (void)state;
    trace_decoder_init(&d, 0);
    give_base(&d, 0, 0, sizeof(struct hr_rec_base));
    body[6] = TRACE_RUN_SAMPLES_MAX & 0xff;
    body[7] = TRACE_RUN_SAMPLES_MAX >> 8;
    assert_int_equal(
        decode(&d, HR_REC_SAMPLES, body, sizeof body - 1, TRACE_RUN_SAMPLES_MAX, &count), TRACE_OK);
    assert_int_equal(count, TRACE_RUN_SAMPLES_MAX);
    body[6] |= 1;
    assert_int_equal(decode(&d, HR_REC_SAMPLES, body, sizeof body, 4096, &count), TRACE_BAD_RECORD);
}

static void random_records(void **state)
{
    uint8_t body[600];
    struct test_random random = {31};
    uint32_t decoded = 0, count;

    (void)state;
    for (int round = 0; round < 60000; round++) {
        uint32_t event_count = (uint32_t)test_random_below(&random, HR_EVENTS_MAX + 1);
        size_t bytes = 8 + test_random_below(&random, round % 2 ? 24 : sizeof body - 8);
        struct trace_decoder d;

        for (size_t i = 0; i < bytes; i++)
            body[i] = (uint8_t)test_random_next(&random);
        body[6] &= 7;
        body[7] = 0;
        if (round % 4 < 2)
            memset(body + 8, 0, bytes - 8);
        trace_decoder_init(&d, event_count);
        give_base(&d, event_count, 0, sizeof(struct hr_rec_base) + 8 * event_count);
        decoded += decode(&d, round & 8 ? HR_REC_SAMPLES : HR_REC_SAMPLES_WIDE, body, bytes, 8,
                          &count) == TRACE_OK;
    }
    assert_in_range(decoded, 100, 59999);
}

static void statuses_have_words(void **state)
{
    (void)state;
    for (int status = TRACE_OK; status <= TRACE_BAD_RECORD; status++)
        assert_true(strlen(trace_status_text((enum trace_status)status)) > 0);
    assert_string_equal(trace_status_text((enum trace_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_header),
        cmocka_unit_test(chunk_header),
        cmocka_unit_test(records),
        cmocka_unit_test(bodies),
        cmocka_unit_test(base_record),
        cmocka_unit_test(sample_records),
        cmocka_unit_test(too_many_samples),
        cmocka_unit_test(random_records),
        cmocka_unit_test(statuses_have_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
