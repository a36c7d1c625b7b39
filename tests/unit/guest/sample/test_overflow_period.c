/* guest/sample/overflow_period.c: how the period of overflow sampling finds and follows a rate. */
#include "tests/unit/test.h"

#include "guest/sample/overflow_period.c"

#define WANTED 100000u /* ticks: 10 kHz at 1 GHz */

static struct overflow_rate rate;

/* A program whose events come at `speed` a tick, sampled `samples` times; the ticks that took. */
static uint64_t follow(uint64_t *period, double speed, unsigned samples)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < samples; i++) {
        uint64_t ticks = (uint64_t)((double)*period / speed);
        total += ticks;
        *period = overflow_next_period(&rate, *period, *period, ticks, WANTED);
        assert_true(*period >= 1);
    }
    return total;
}

static uint64_t start(void)
{
    rate = (struct overflow_rate){0};
    return OVERFLOW_PERIOD_FIRST;
}

static void settles_from_the_first_guess(void **state)
{
    const double speeds[] = {0.01, 0.3, 1, 4};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t period = start();
        follow(&period, speeds[i], 8);
        double off = (double)period / (speeds[i] * WANTED);
        assert_true(off > 0.98 && off < 1.02);
    }
}

static void follows_a_change_of_phase(void **state)
{
    uint64_t period = start();
    uint64_t ticks;

    (void)state;
    follow(&period, 1, 40);
    follow(&period, 0.1, 3); /* ten times slower */
    assert_true(period > 9800 && period < 10200);
    ticks = follow(&period, 1, 60); /* and back */
    assert_true(period > 98000 && period < 102000);
    assert_true(ticks < 100 * WANTED); /* 10 ms at 10 kHz */
    ticks = follow(&period, 1.5, 60); /* a little */
    assert_true(period > 147000 && period < 153000);
    assert_true(ticks < 100 * WANTED);
}

/* Bursts: the rate asked for is that of samples over time, however uneven they come. */
static void noise_averages_out(void **state)
{
    struct test_random random = {7};
    uint64_t period = WANTED, sum = 0;

    (void)state;
    start();
    for (int i = 0; i < 2000; i++) {
        uint64_t ticks =
            test_random_below(&random, 2) ? period / 10 : period * 19 / 10; /* mean: period */
        sum += ticks;
        period = overflow_next_period(&rate, period, period, ticks, WANTED);
        assert_true(i < 8 || (period > WANTED / 4 && period < WANTED * 4));
    }
    assert_in_range(sum / 2000, WANTED * 95 / 100, WANTED * 105 / 100);
}

static void small_differences_change_nothing(void **state)
{
    uint64_t period = WANTED;

    (void)state;
    start();
    for (int i = 0; i < 100; i++) {
        uint64_t ticks = i % 2 ? WANTED + 500 : WANTED - 500;
        assert_int_equal(overflow_next_period(&rate, period, period, ticks, WANTED), period);
    }
}

static void extremes_stay_in_range(void **state)
{
    (void)state;
    start();
    assert_int_equal(overflow_next_period(&rate, 1, 1, 1ull << 62, WANTED), 1);
    start();
    assert_int_equal(overflow_next_period(&rate, 1000, 1000, 0, WANTED), 16000);
    start();
    assert_in_range(overflow_next_period(&rate, 1ull << 47, 1ull << 47, 1, UINT32_MAX),
                    4095ull * UINT32_MAX, 4096ull * UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settles_from_the_first_guess),
        cmocka_unit_test(follows_a_change_of_phase),
        cmocka_unit_test(noise_averages_out),
        cmocka_unit_test(small_differences_change_nothing),
        cmocka_unit_test(extremes_stay_in_range),
    };
    return cmocka_run_group_tests_name("overflow_period", tests, NULL, NULL);
}
