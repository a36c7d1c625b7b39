/* Tests of host/plot/plot_axis.c: round ends, ticks within them, positions. */
#include "host/plot/plot_axis.h"

#include <math.h>

#include "tests/unit/test.h"

static void linear_axes_end_at_a_tick(void **state)
{
    static const double largest[] = {0, 1e-9, 0.8, 1, 3, 99.9, 100, 200.2, 12345, 1e18};

    (void)state;
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        struct plot_axis axis = {.to = largest[i], .page_from = 100, .page_to = 10};
        double ticks[PLOT_TICKS_MAX];
        unsigned count;

        plot_axis_round(&axis, 2);
        assert_true(axis.to >= largest[i] && axis.to > 0);
        count = plot_axis_ticks(&axis, 2, ticks);
        assert_true(count >= 2 && count <= 4);
        assert_true(ticks[0] == 0 && !signbit(ticks[0]));
        assert_true(fabs(ticks[count - 1] / axis.to - 1) < 1e-9);
        assert_true(plot_axis_at(&axis, 0) == 100);
        assert_true(fabs(plot_axis_at(&axis, axis.to) - 10) < 1e-9);
    }
}

static void logarithmic_axes_have_decades(void **state)
{
    struct plot_axis axis = {.from = 30, .to = 4e6, .page_to = 100, .is_log = true};
    double ticks[PLOT_TICKS_MAX];
    unsigned count = plot_axis_ticks(&axis, 8, ticks);

    (void)state;
    assert_int_equal(count, 5);
    assert_true(fabs(ticks[0] - 100) < 1e-6 && fabs(ticks[4] - 1e6) < 1e-3);
    assert_true(fabs(plot_axis_at(&axis, sqrt(30 * 4e6)) - 50) < 1e-9);
    axis.to = 1e300; /* many decades: not all of them */
    assert_true(plot_axis_ticks(&axis, 8, ticks) <= 9);
}

static void times_have_units(void **state)
{
    double unit_ns;

    (void)state;
    assert_string_equal(plot_time_unit(500, &unit_ns), "ns");
    assert_string_equal(plot_time_unit(88e6, &unit_ns), "ms");
    assert_true(unit_ns == 1e6);
    assert_string_equal(plot_time_unit(1e12, &unit_ns), "s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_axes_end_at_a_tick),
        cmocka_unit_test(logarithmic_axes_have_decades),
        cmocka_unit_test(times_have_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
