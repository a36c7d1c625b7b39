/* Tests of host/draw/histogram.c: exact and nearly exact values, percentiles by nearest rank. */
#include "host/draw/histogram.h"

#include "tests/unit/test.h"

static void empty_has_no_percentile(void **state)
{
    struct histogram h;

    (void)state;
    assert_int_equal(histogram_init(&h), 0);
    assert_int_equal(histogram_percentile(&h, 0.5), 0);
    assert_int_equal(h.largest, 0);
    histogram_free(&h);
}

static void percentiles_are_nearest_rank(void **state)
{
    struct histogram h;

    (void)state;
    assert_int_equal(histogram_init(&h), 0);
    for (uint64_t v = 1; v <= 100; v++)
        histogram_add(&h, v * 10);
    assert_int_equal(histogram_percentile(&h, 0.50), 500);
    assert_int_equal(histogram_percentile(&h, 0.99), 990);
    assert_int_equal(histogram_percentile(&h, 1.00), 1000);
    assert_int_equal(histogram_percentile(&h, 0.00), 10);
    assert_int_equal(h.largest, 1000);
    histogram_free(&h);
}

static void below_65536_is_exact(void **state)
{
    struct histogram h;

    (void)state;
    for (uint64_t v = 0; v < HISTOGRAM_EXACT; v += 4369) {
        assert_int_equal(histogram_init(&h), 0);
        histogram_add(&h, v);
        assert_int_equal(histogram_percentile(&h, 0.5), v);
        histogram_free(&h);
    }
}

static void above_is_within_a_thousandth(void **state)
{
    struct test_random random = {12345};
    struct histogram h;

    (void)state;
    assert_int_equal(histogram_init(&h), 0);
    for (int i = 0; i < 300; i++) {
        uint64_t v = test_random_next(&random) >> (i % 48);
        uint64_t found;

        if (v < HISTOGRAM_EXACT)
            continue;
        assert_true(histogram_bucket(v) < HISTOGRAM_BUCKETS);
        h.count = 0;
        histogram_add(&h, v);
        found = histogram_percentile(&h, 1.0);
        h.buckets[histogram_bucket(v)] = 0;
        assert_true(found <= v);
        assert_true((double)(v - found) <= 0.001 * (double)v);
    }
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_bucket(HISTOGRAM_EXACT), HISTOGRAM_EXACT);
    histogram_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_no_percentile),
        cmocka_unit_test(percentiles_are_nearest_rank),
        cmocka_unit_test(below_65536_is_exact),
        cmocka_unit_test(above_is_within_a_thousandth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
