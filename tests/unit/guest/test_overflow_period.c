/* guest/overflow_period.c: how the period of overflow sampling finds and follows a rate. */
#include "tests/unit/test.h"

#include "guest/overflow_period.c"

#define WANTED 100000u /* ticks: 10 kHz at 1 GHz */
#define GUESSES 8u

/* A program whose events come at `rate` a tick, sampled `samples` times; the ticks that took. */
static uint64_t run(uint64_t *period, double rate, unsigned samples, unsigned *taken)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < samples; i++) {
        uint64_t ticks = (uint64_t)((double)*period / rate);
        total += ticks;
        *period = overflow_next_period(*period, *period, ticks, WANTED, (*taken)++ >= GUESSES);
        assert_true(*period >= 1);
    }
    return total;
}

static void settles_from_the_first_guess(void **state)
{
    const double rates[] = {0.01, 0.3, 1, 4};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t period = OVERFLOW_PERIOD_FIRST;
        unsigned taken = 0;
        run(&period, rates[i], 40, &taken);
        double off = (double)period / (rates[i] * WANTED);
        assert_true(off > 0.98 && off < 1.02);
    }
}

static void follows_a_change_of_phase(void **state)
{
    uint64_t period = OVERFLOW_PERIOD_FIRST;
    unsigned taken = 0;
    uint64_t ticks;

    (void)state;
    run(&period, 1, 40, &taken);
    ticks = run(&period, 0.1, 60, &taken); /* ten times slower */
    assert_true(period > 9800 && period < 10200);
    assert_true(ticks < 200 * WANTED); /* 20 ms at 10 kHz */
    ticks = run(&period, 1, 60, &taken); /* and back */
    assert_true(period > 98000 && period < 102000);
    assert_true(ticks < 200 * WANTED);
}

static void noise_averages_out(void **state)
{
    struct test_random random = {7};
    uint64_t period = WANTED, sum = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t ticks = period / 2 + test_random_below(&random, period + 1);
        sum += ticks;
        period = overflow_next_period(period, period, ticks, WANTED, true);
        assert_true(period > WANTED / 2 && period < WANTED * 2);
    }
    assert_in_range(sum / 2000, WANTED * 85 / 100, WANTED * 115 / 100);
}

static void small_differences_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(overflow_next_period(10000, 10000, WANTED + 500, WANTED, true), 10000);
    assert_int_equal(overflow_next_period(10000, 10000, WANTED - 500, WANTED, true), 10000);
    assert_int_not_equal(overflow_next_period(10000, 10000, WANTED + 1000, WANTED, true), 10000);
}

static void extremes_stay_in_range(void **state)
{
    (void)state;
    assert_int_equal(overflow_next_period(1, 1, 1ull << 62, WANTED, true), 1);
    assert_int_equal(overflow_next_period(1, 1, 1ull << 62, WANTED, false), 1);
    assert_int_equal(overflow_next_period(1000, 1000, 0, WANTED, false), 16000);
    assert_int_equal(overflow_next_period(1ull << 40, 1ull << 40, WANTED, WANTED, true),
                     1ull << 40);
    assert_true(overflow_next_period(1ull << 47, 1ull << 47, WANTED / 2, WANTED, true) > 1ull
                                                                                             << 47);
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
