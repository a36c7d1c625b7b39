/* Percentiles of invocations: exact while there is memory, then within 0.1 %. */
#include "host/draw/latency_values.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#define COUNT 400000u

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static const double shares[] = {0, 0.001, 0.5, 0.9, 0.99, 0.999, 1};

/* Compares with a sorted array; `error` is the largest relative one that is allowed. */
static void expect(struct latency_values *values, uint64_t *all, size_t count, double error)
{
    qsort(all, count, sizeof all[0], by_value);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double rank = ceil(shares[i] * (double)count);
        uint64_t wanted = all[rank < 1 ? 0 : (size_t)rank - 1];
        uint64_t got = latency_values_at(values, shares[i]);

        assert_true(fabs((double)got - (double)wanted) <= error * (double)wanted);
    }
    assert_int_equal(values->count, count);
    assert_int_equal(values->largest, all[count - 1]);
}

static void few(void **state)
{
    struct latency_values_pool pool = {0};
    struct latency_values values = {0};

    (void)state;
    assert_int_equal(latency_values_at(&values, 0.5), 0);
    for (uint64_t i = 10; i >= 1; i--)
        assert_int_equal(latency_values_add(&pool, &values, i << 40), 0);
    assert_int_equal(latency_values_at(&values, 0.5), 5ull << 40);
    assert_int_equal(latency_values_at(&values, 0.9), 9ull << 40);
    assert_int_equal(latency_values_at(&values, 0.99), 10ull << 40);
    assert_int_equal(latency_values_at(&values, 0), 1ull << 40);
    assert_int_equal(values.sum, 55ull << 40);
    assert_int_equal(latency_values_add(&pool, &values, UINT64_MAX), 0);
    assert_int_equal(values.sum, UINT64_MAX); /* saturates */
    latency_values_free(&pool, &values);
    assert_int_equal(pool.bytes, 0);
}

/* Small and large values: a histogram and an array together are still exact. */
static void many(void **state)
{
    static uint64_t all[COUNT];
    struct test_random random = {7};

    (void)state;
    for (int bits = 1; bits <= 64; bits += 9) {
        struct latency_values_pool pool = {0};
        struct latency_values values = {0};

        for (uint32_t i = 0; i < COUNT; i++) {
            all[i] = test_random_next(&random) >> test_random_below(&random, (uint64_t)bits);
            all[i] >>= i % 3 == 0 ? 0 : 48;
            assert_int_equal(latency_values_add(&pool, &values, all[i]), 0);
            if (i == COUNT / 2)
                latency_values_at(&values, 0.5); /* sorted in between */
        }
        assert_true(latency_values_exact(&values));
        expect(&values, all, COUNT, 0);
        assert_true(pool.bytes <= 8 * 2 * COUNT);
        latency_values_free(&pool, &values);
    }
}

/* Of several sets the largest gives way; small ones stay exact. */
static void little_memory(void **state)
{
    static uint64_t all[3][COUNT];
    struct latency_values_pool pool = {.limit = 1 << 20};
    struct latency_values values[3] = {{0}};
    const uint32_t counts[3] = {COUNT, 1000, COUNT / 2};
    struct test_random random = {3};

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t n = 0; n < 3; n++)
            if (i < counts[n]) {
                all[n][i] =
                    (1 << 20) + (test_random_next(&random) >> test_random_below(&random, 60));
                assert_int_equal(latency_values_add(&pool, &values[n], all[n][i]), 0);
                assert_true(pool.bytes <= 1 << 20);
            }
    assert_false(latency_values_exact(&values[0]));
    assert_true(latency_values_exact(&values[1]));
    for (uint32_t n = 0; n < 3; n++) {
        expect(&values[n], all[n], counts[n], n == 1 ? 0 : 0.001);
        latency_values_free(&pool, &values[n]);
    }
    assert_int_equal(pool.bytes, 0);
    assert_null(pool.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few),
        cmocka_unit_test(many),
        cmocka_unit_test(little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
