/* Tests of host/draw/rate.c: steady and changing rates, short and long runs. */
#include "host/draw/rate.h"

#include "tests/unit/test.h"

#define HZ 1000000000u

static void steady(struct rate *rate, uint64_t from, uint64_t ticks, uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++)
        rate_add(rate, from + i * ticks, ticks);
}

static void steady_rates_are_exact(void **state)
{
    static const uint64_t ticks[] = {1, 100, 100000, 1000000000};

    (void)state;
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        double wanted = (double)HZ / (double)ticks[i];
        struct rate rate;

        assert_int_equal(rate_init(&rate), 0);
        steady(&rate, 0, ticks[i], 10000);
        assert_true(rate_hz(&rate, 0, HZ) == wanted);
        assert_true(rate_hz(&rate, rate.last / 2, HZ) == wanted);
        rate_free(&rate);
    }
}

/* A rate that changes once: the second half has the later one alone. */
static void the_last_half_is_apart(void **state)
{
    struct rate rate;

    (void)state;
    assert_int_equal(rate_init(&rate), 0);
    steady(&rate, 0, 1000, 10000); /* 10 ms at 1 MHz */
    steady(&rate, 10000000, 10000, 2000); /* 20 ms at 100 kHz */
    assert_int_equal(rate.last, 30000000);
    assert_true(rate_hz(&rate, 0, HZ) == 400000);
    assert_true(rate_hz(&rate, rate.last / 2, HZ) == 100000);
    rate_free(&rate);
}

/* Time in which the program did not run is not in the ticks, so a pause changes nothing. */
static void pauses_do_not_count(void **state)
{
    struct rate rate;

    (void)state;
    assert_int_equal(rate_init(&rate), 0);
    steady(&rate, 0, 1000, 100);
    rate_add(&rate, 5000000000u, 1000);
    assert_true(rate_hz(&rate, 0, HZ) == 1000000);
    rate_free(&rate);
}

static void hostile_times_are_in_bounds(void **state)
{
    struct rate rate;

    (void)state;
    assert_int_equal(rate_init(&rate), 0);
    assert_true(rate_hz(&rate, 0, HZ) == 0);
    assert_true(rate_hz(&rate, UINT64_MAX, HZ) == 0);
    rate_add(&rate, 5, 0);
    assert_true(rate_hz(&rate, 0, HZ) == 0);
    rate_add(&rate, 6, 1);
    assert_true(rate_hz(&rate, 0, UINT64_MAX) == RATE_HZ_MAX);
    rate_add(&rate, UINT64_MAX, UINT64_MAX);
    rate_add(&rate, 0, UINT64_MAX);
    assert_int_equal(rate.last, UINT64_MAX);
    assert_true(rate_hz(&rate, 0, HZ) >= 0);
    rate_free(&rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_rates_are_exact),
        cmocka_unit_test(the_last_half_is_apart),
        cmocka_unit_test(pauses_do_not_count),
        cmocka_unit_test(hostile_times_are_in_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
