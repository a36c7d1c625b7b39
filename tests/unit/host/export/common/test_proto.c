/* Tests of host/export/common/proto.c, numbers.c and sample_time.c. */
#include "host/export/common/proto.h"

#include <string.h>

#include "host/export/common/numbers.h"
#include "host/export/pprof/sample_time.h"
#include "tests/unit/test.h"

static void bytes_are(struct proto *proto, const char *bytes, size_t count)
{
    assert_int_equal(proto->error, 0);
    assert_int_equal(proto->used, count);
    assert_memory_equal(proto->bytes, bytes, count);
    proto_free(proto);
}

static void test_fields(void **state)
{
    struct proto proto = {0};
    const uint64_t values[] = {0, 127, 128, UINT64_MAX};

    (void)state;
    proto_number(&proto, 1, 150); /* the example of the format's description */
    proto_text(&proto, 2, "testing");
    proto_double(&proto, 16, 1.0);
    proto_numbers(&proto, 3, values, 4);
    bytes_are(&proto,
              "\x08\x96\x01"
              "\x12\x07testing"
              "\x81\x01\0\0\0\0\0\0\xf0\x3f"
              "\x1a\x0e\x00\x7f\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
              3 + 9 + 10 + 16);
    proto_text(&proto, 1, "a\xff\x1b");
    bytes_are(&proto,
              "\x0a\x09"
              "a\\xff\\x1b",
              11);
}

/* Lengths of one, two and three bytes, one message in the other. */
static void test_nesting(void **state)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 128, 16000, 16380, 16384, 70000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct proto proto = {0};
        size_t outer = proto_begin(&proto, 1);
        size_t inner = proto_begin(&proto, 2);
        size_t at = 0, length = 0;

        for (size_t n = 0; n < sizes[i]; n++)
            proto_numbers(&proto, 15, NULL, 0); /* two bytes */
        proto_end(&proto, inner);
        proto_number(&proto, 3, 7);
        proto_end(&proto, outer);
        assert_int_equal(proto.error, 0);
        assert_int_equal(proto.bytes[at++], 0x0a);
        for (int shift = 0; shift == 0 || (proto.bytes[at - 1] & 0x80) != 0; shift += 7)
            length |= (size_t)(proto.bytes[at++] & 0x7f) << shift;
        assert_int_equal(length, proto.used - at);
        assert_int_equal(proto.bytes[at++], 0x12);
        length = 0;
        for (int shift = 0; shift == 0 || (proto.bytes[at - 1] & 0x80) != 0; shift += 7)
            length |= (size_t)(proto.bytes[at++] & 0x7f) << shift;
        assert_int_equal(length, sizes[i] * 2);
        assert_memory_equal(proto.bytes + at + length, "\x18\x07", 2);
        proto_free(&proto);
    }
}

static void test_numbers(void **state)
{
    struct numbers numbers;
    bool added;

    (void)state;
    assert_int_equal(numbers_init(&numbers, 4), 0);
    for (uint64_t i = 1; i <= 4; i++) {
        assert_int_equal(numbers_of(&numbers, i * 100, 7, &added), i);
        assert_true(added);
    }
    assert_int_equal(numbers_of(&numbers, 300, 7, &added), 3);
    assert_false(added);
    assert_true(numbers_full(&numbers));
    assert_int_equal(numbers_of(&numbers, 300, 8, &added), 5); /* forgets the others */
    assert_true(added);
    assert_int_equal(numbers_of(&numbers, 300, 7, &added), 6);
    assert_true(added);
    assert_int_equal(numbers_of(&numbers, 300, 8, &added), 5);
    assert_false(added);
    assert_int_equal(numbers_of_text(&numbers, "", &added), 7);
    assert_int_equal(numbers_of_text(&numbers, "a", &added), 8);
    assert_int_equal(numbers_of_text(&numbers, "a", &added), 8);
    assert_false(added);
    numbers_free(&numbers);
}

/* A table grows, and forgets when its room is full. */
static void test_many_numbers(void **state)
{
    struct numbers numbers;
    bool added;

    (void)state;
    assert_int_equal(numbers_init(&numbers, 1u << 14), 0);
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 1; i <= 1u << 14; i++) {
            assert_int_equal(numbers_of(&numbers, i, i * 3, &added), i);
            assert_true(added == (round == 0));
            assert_int_equal(numbers_count(&numbers), round == 0 ? i : 1u << 14);
        }
    assert_true(numbers_full(&numbers));
    assert_int_equal(numbers_of(&numbers, 1, 4, &added), (1u << 14) + 1);
    assert_int_equal(numbers_count(&numbers), 1);
    assert_int_equal(numbers_of(&numbers, 1, 3, &added), (1u << 14) + 2);
    numbers_free(&numbers);
}

/* Samples of which the gaps before are not known. */
static void test_part_of_time(void **state)
{
    struct hr_rec_gap gap = {.time_first = 1500, .time_last = 1800};
    struct trace_record record = {
        .type = HR_REC_GAP, .bytes = sizeof gap, .body = (const uint8_t *)&gap};
    struct trace_chunk chunk = {.header = {.type = HR_CHUNK_DATA, .cpu = 3}};
    struct trace_slot before = {.time = 1700}, sample = {.time = 2000};
    struct trace_info *info = test_calloc(1, sizeof *info);
    struct sample_time time, part;

    (void)state;
    trace_info_init(info);
    assert_int_equal(sample_time_init(&time, info), 0);
    assert_int_equal(sample_time_init(&part, info), 0);
    sample_time_record(&time, &chunk, &record);
    sample_time_begin(&part, 3);
    assert_int_equal(sample_time_ns(&part, 3, &sample, &before), 300);
    assert_false(sample_time_join(&time, &part, 3)); /* the gap ended later */
    sample_time_begin(&part, 3);
    before.time = 1800;
    assert_int_equal(sample_time_ns(&part, 3, &sample, &before), 200);
    assert_true(sample_time_join(&time, &part, 3));
    sample_time_begin(&part, 3);
    gap.time_last = 1900;
    sample_time_record(&part, &chunk, &record);
    assert_int_equal(sample_time_ns(&part, 3, &sample, &before), 100);
    assert_true(sample_time_join(&time, &part, 3));
    before.time = 1000;
    assert_int_equal(sample_time_ns(&time, 3, &sample, &before), 100);
    sample_time_free(&part);
    sample_time_free(&time);
    info->sampling.interval_ticks = 500; /* then gaps do not matter */
    assert_int_equal(sample_time_init(&time, info), 0);
    assert_int_equal(sample_time_init(&part, info), 0);
    sample_time_begin(&part, 3);
    assert_int_equal(sample_time_ns(&part, 3, &sample, &before), 500);
    assert_true(sample_time_join(&time, &part, 3));
    sample_time_free(&part);
    sample_time_free(&time);
    trace_info_free(info);
    test_free(info);
}

static void test_sample_time(void **state)
{
    struct hr_rec_gap gap = {.time_first = 1500, .time_last = 1800};
    struct trace_record record = {
        .type = HR_REC_GAP, .bytes = sizeof gap, .body = (const uint8_t *)&gap};
    struct trace_chunk chunk = {.header = {.type = HR_CHUNK_DATA, .cpu = 3}};
    struct trace_slot before = {.time = 1000}, sample = {.time = 2000};
    struct trace_info *info = test_calloc(1, sizeof *info);
    struct sample_time time;

    (void)state;
    trace_info_init(info);
    info->clock.start_ticks = 100;
    assert_int_equal(sample_time_init(&time, info), 0);
    assert_int_equal(sample_time_ns(&time, 3, &sample, &before), 1000);
    sample_time_record(&time, &chunk, &record);
    assert_int_equal(sample_time_ns(&time, 3, &sample, &before), 200);
    assert_int_equal(sample_time_ns(&time, 2, &sample, &before), 1000);
    before.time = 0; /* the first sample counts from the program's start */
    assert_int_equal(sample_time_ns(&time, 2, &sample, &before), 1900);
    before.time = 3000;
    assert_int_equal(sample_time_ns(&time, 2, &sample, &before), 0);
    before.time = 1000;
    sample.flags = HR_SAMPLE_RESUMED;
    assert_int_equal(sample_time_ns(&time, 2, &sample, &before), 0);
    sample_time_free(&time);
    info->sampling.interval_ticks = 500;
    assert_int_equal(sample_time_init(&time, info), 0);
    assert_int_equal(sample_time_ns(&time, 3, &sample, &before), 500);
    sample_time_free(&time);
    trace_info_free(info);
    test_free(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),       cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_many_numbers),
        cmocka_unit_test(test_part_of_time), cmocka_unit_test(test_sample_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
