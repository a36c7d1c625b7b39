/* host/sweep: statistics of repetitions, models, and the order of a picture. */
#include "host/trial/trial_statistics.h"

#include <math.h>

#include "host/sweep/show/sweep_cluster.h"
#include "host/sweep/show/sweep_fit.h"
#include "lib/splitmix.h"
#include "tests/unit/test.h"

static void near(double found, double wanted, double tolerance)
{
    if (fabs(found - wanted) > tolerance)
        print_error("%g is not %g\n", found, wanted);
    assert_true(fabs(found - wanted) <= tolerance);
}

static void spreads(void **)
{
    double values[] = {10, 12, 11, 9, 13}, equal[] = {7, 7, 7}, one[] = {5};
    double wild[] = {100, 101, 99, 100, 102, 98, 150};
    struct trial_spread s;

    trial_spread_of(values, 5, &s);
    near(s.mean, 11, 1e-12);
    near(s.median, 11, 1e-12);
    near(s.deviation, sqrt(2.5) / 11, 1e-12);
    assert_true(s.low > 9 && s.low < 10.5 && s.high > 11.5 && s.high < 13);
    assert_int_equal(s.outliers, 0);
    trial_spread_of(equal, 3, &s);
    assert_true(s.low == 7 && s.high == 7 && s.deviation == 0 && s.outliers == 0);
    trial_spread_of(one, 1, &s);
    assert_true(s.count == 1 && s.mean == 5 && s.low == 5 && s.high == 5);
    trial_spread_of(wild, 7, &s);
    assert_int_equal(s.outliers, 1);
    trial_spread_of(wild, 0, &s);
    assert_int_equal(s.count, 0);
}

/* 95 % intervals of the mean of 30 normal values hold the true mean about so often. */
static void intervals_hold_the_mean(void **)
{
    uint64_t state = 7;
    unsigned held = 0;

    for (unsigned round = 0; round < 200; round++) {
        double values[30];
        struct trial_spread s;

        for (unsigned i = 0; i < 30; i++) {
            values[i] = 0;
            for (unsigned j = 0; j < 12; j++) /* a sum of uniform values is nearly normal */
                values[i] += (double)(splitmix_next(&state) >> 11) / 0x1p53;
        }
        trial_spread_of(values, 30, &s);
        held += s.low <= 6 && 6 <= s.high;
    }
    assert_in_range(held, 180, 198);
}

static void correlations(void **)
{
    const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 4, 6, 8, 10}, c[] = {5, 4, 3, 2, 1};
    const double d[] = {1, 3, 2, 5, 4}, flat[] = {3, 3, 3, 3, 3};

    near(trial_correlation(a, b, 5), 1, 1e-12);
    near(trial_correlation(a, c, 5), -1, 1e-12);
    near(trial_correlation(a, d, 5), 0.8, 1e-12);
    near(trial_correlation(a, flat, 5), 0, 0);
    /* Student's t, from tables: t = r * sqrt((n - 2) / (1 - r^2)). */
    near(trial_significance(0.8, 5), 0.1041, 1e-4);
    near(trial_significance(0.5, 20), 0.0248, 1e-4);
    near(trial_significance(-0.1, 200), 0.1588, 1e-4);
    near(trial_significance(0, 50), 1, 1e-9);
    assert_true(trial_significance(1, 50) == 0);
    assert_true(trial_significance(0.9, 2) == 1);
}

#define VALUES 100

static void models(void **)
{
    double target[VALUES], a[VALUES], b[VALUES], noise[VALUES], flat[VALUES] = {0};
    const double *const all[] = {noise, b, flat, a};
    uint64_t state = 3;
    struct sweep_fit fit;

    for (unsigned i = 0; i < VALUES; i++) {
        a[i] = (double)(splitmix_next(&state) % 1000);
        b[i] = (double)(splitmix_next(&state) % 1000);
        noise[i] = (double)(splitmix_next(&state) % 1000);
        target[i] = 1000 + 200 * a[i] + 15 * b[i];
    }
    assert_int_equal(sweep_fit(target, all, 4, VALUES, &fit), 0);
    assert_int_equal(fit.count, 2); /* noise explains nothing */
    assert_int_equal(fit.chosen[0], 3);
    assert_int_equal(fit.chosen[1], 1);
    near(fit.quality[1], 1, 1e-6);
    near(fit.weights[0], 200, 1e-3);
    near(fit.weights[1], 15, 1e-3);
    assert_true(sweep_fit_alone(target, a, VALUES) > 0.95);
    assert_true(sweep_fit_alone(target, noise, VALUES) < 0.1);
    near(sweep_fit_alone(target, flat, VALUES), 0, 0.1);
    assert_int_equal(sweep_fit(flat, all, 4, VALUES, &fit), 0);
    assert_int_equal(fit.count, 0);
}

/* Two kinds of series in turn: each kind stands together. */
static void order(void **)
{
    double alike[36];
    size_t found[6], changes = 0;

    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            alike[6 * i + j] = i == j ? 1 : i % 2 == j % 2 ? 0.9 : -0.5;
    assert_int_equal(sweep_cluster(alike, 6, found), 0);
    for (size_t i = 1; i < 6; i++)
        changes += found[i] % 2 != found[i - 1] % 2;
    assert_int_equal(changes, 1);
    assert_int_equal(sweep_cluster(alike, 0, found), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads),      cmocka_unit_test(intervals_hold_the_mean),
        cmocka_unit_test(correlations), cmocka_unit_test(models),
        cmocka_unit_test(order),
    };

    return cmocka_run_group_tests_name("trial_statistics", tests, NULL, NULL);
}
