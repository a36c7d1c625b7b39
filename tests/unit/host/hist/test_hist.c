/* Tests of host/hist/hist.c: ranges cover every value once, sums saturate. */
#include "host/hist/hist.h"

#include <string.h>

#include "tests/unit/test.h"

static struct hist_subject subject_of(const uint64_t *values, size_t count)
{
    struct hist_subject subject = {.kind = HIST_EVENT, .least = UINT64_MAX};

    assert_int_equal(histogram_init(&subject.values), 0);
    for (size_t i = 0; i < count; i++)
        histogram_add(&subject.values, values[i]);
    return subject;
}

/* Ranges follow each other without a hole, and each value is in the one that counts it. */
static void check(const uint64_t *values, size_t count, uint32_t wanted)
{
    struct hist_subject subject = subject_of(values, count);
    struct hist_range ranges[HIST_RANGES_MAX];
    uint32_t used = hist_ranges(&subject, ranges, wanted);
    uint64_t counted = 0;

    assert_true(used >= 1 && used <= HIST_RANGES_MAX);
    for (uint32_t i = 0; i < used; i++) {
        uint64_t inside = 0;

        assert_true(ranges[i].from <= ranges[i].to);
        if (i != 0)
            assert_int_equal(ranges[i].from, ranges[i - 1].to + 1);
        for (size_t v = 0; v < count; v++)
            inside += values[v] >= ranges[i].from && values[v] <= ranges[i].to;
        assert_int_equal(inside, ranges[i].count);
        counted += inside;
    }
    assert_int_equal(counted, count);
    assert_true(ranges[0].count != 0 && ranges[used - 1].count != 0);
    histogram_free(&subject.values);
}

static void ranges_cover_all_values(void **state)
{
    static const uint64_t few[] = {0, 1, 1, 2}, far[] = {0, 1, UINT64_MAX, 1ull << 40, 70000};
    static const uint64_t last[] = {UINT64_MAX}, none[] = {0};
    struct test_random r = {77};
    uint64_t many[500];

    (void)state;
    check(few, 4, 24);
    check(far, 5, 24);
    check(last, 1, 24);
    check(none, 1, 24);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < 500; i++)
            many[i] = test_random_next(&r) >> test_random_below(&r, 64);
        check(many, 1 + test_random_below(&r, 499), 10 + (uint32_t)test_random_below(&r, 50));
    }
}

static void few_values_have_narrow_ranges(void **state)
{
    static const uint64_t values[] = {1000, 1001, 1003};
    struct hist_subject subject = subject_of(values, 3);
    struct hist_range ranges[HIST_RANGES_MAX];

    (void)state;
    assert_int_equal(hist_ranges(&subject, ranges, 24), 4);
    assert_int_equal(ranges[2].from, 1002);
    assert_int_equal(ranges[2].count, 0);
    histogram_free(&subject.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_cover_all_values),
        cmocka_unit_test(few_values_have_narrow_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
