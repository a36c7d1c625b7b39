/* Differences of means: known quantiles, and intervals that hold what they should. */
#include "host/trial/trial_difference.h"

#include <math.h>

#include "host/trial/trial.h"
#include "host/trial/trial_statistics.h"
#include "lib/splitmix.h"
#include "tests/unit/test.h"

#define TRIALS 500

static void near(double value, double wanted, double off)
{
    if (fabs(value - wanted) > off)
        fail_msg("%g is not within %g of %g", value, off, wanted);
}

static void quantiles(void **)
{
    near(trial_student(0.975, 1), 12.706, 1e-3);
    near(trial_student(0.975, 9), 2.2622, 1e-4);
    near(trial_student(0.8, 18), 0.8620, 1e-4);
    near(trial_student(0.975, 1e6), 1.95997, 1e-4);
}

/* Nearly normal, of deviation 1. */
static double noise(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)(splitmix_next(state) >> 11) / 0x1p53;
    return sum - 6;
}

/* Returns how many of TRIALS intervals hold the difference, which is `change`; `seen`: how many do
 * not hold 0. */
static unsigned covered(size_t count, double change, unsigned *seen)
{
    double before[32], after[32];
    struct trial_difference d;
    uint64_t state = count;
    unsigned held = 0;

    *seen = 0;
    for (unsigned i = 0; i < TRIALS; i++) {
        for (size_t j = 0; j < count; j++) {
            before[j] = 100 + noise(&state);
            after[j] = 100 + change + 2 * noise(&state);
        }
        trial_difference_of(before, count, after, count, &d);
        held += d.low <= change && change <= d.high;
        *seen += trial_difference_is_certain(&d);
    }
    return held;
}

static void intervals_hold_the_difference(void **)
{
    unsigned seen;

    near(covered(4, 3, &seen), 0.95 * TRIALS, 0.03 * TRIALS);
    near(covered(10, 1, &seen), 0.95 * TRIALS, 0.02 * TRIALS);
    near(covered(30, 0, &seen), 0.95 * TRIALS, 0.02 * TRIALS);
    near(seen, 0.05 * TRIALS, 0.02 * TRIALS); /* where there is no difference */
}

/* What is said to be the smallest effect is seen four times out of five. */
static void the_smallest_effect_is_seen(void **)
{
    struct trial_difference d = {.counts = {10, 10}, .means = {100, 100}, .variances = {1, 4}};
    unsigned seen;

    trial_difference_welch(&d);
    covered(10, d.least, &seen);
    near(seen, 0.8 * TRIALS, 0.05 * TRIALS);
    /* So many values show what is the smallest effect of 10. */
    near((double)trial_difference_runs(&d, d.least / 100), 10, 1);
    assert_true(trial_difference_runs(&d, 0.01) > trial_difference_runs(&d, 0.02));
}

static void without_chance(void **)
{
    const double same[] = {5, 5, 5}, other[] = {7, 7}, one[] = {6}, two[] = {5, 7};
    struct trial_difference d;

    trial_difference_of(same, 3, other, 2, &d);
    assert_true(d.change == 2 && d.low == 2 && d.high == 2 && d.least == 0);
    assert_true(trial_difference_is_certain(&d));
    assert_int_equal(trial_difference_runs(&d, 0.01), 1);
    trial_difference_of(same, 3, same, 3, &d);
    assert_false(trial_difference_is_certain(&d));
    trial_difference_of(one, 1, two, 2, &d);
    assert_true(isinf(d.low) && isinf(d.high) && isinf(d.least));
    assert_false(trial_difference_is_certain(&d));
    trial_difference_exact(10, 8, &d);
    assert_true(d.change == -2 && trial_difference_is_certain(&d));
}

/* Each order is a permutation, and each program is first about equally often. */
static void orders(void **)
{
    unsigned first[3] = {0};
    uint64_t state = 1;
    uint32_t order[3];

    for (unsigned i = 0; i < 3000; i++) {
        trial_order(order, 3, &state);
        assert_int_equal(1u << order[0] | 1u << order[1] | 1u << order[2], 7);
        first[order[0]]++;
    }
    for (unsigned i = 0; i < 3; i++)
        near(first[i], 1000, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(intervals_hold_the_difference),
        cmocka_unit_test(the_smallest_effect_is_seen),
        cmocka_unit_test(without_chance),
        cmocka_unit_test(orders),
    };

    return cmocka_run_group_tests_name("trial_difference", tests, NULL, NULL);
}
