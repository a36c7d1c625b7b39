/* The watch over a guest's start: steps as its console names them, and the two limits. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "host/run/relay_boot.h"

#define SECOND 1000000000ull
#define START (5 * SECOND)
#define GIB (1ull << 30)

static struct relay_boot watch;
static struct run_failure failure;
static char line[200];

static int begin(void **state)
{
    (void)state;
    unsetenv("HR_BOOT_LIMITS");
    failure = (struct run_failure){0};
    relay_boot_init(&watch, 3 * GIB, START);
    return 0;
}

static void a_slow_start_is_said_once(void **state)
{
    (void)state;
    assert_int_equal(relay_boot_deadline(&watch), START + 10 * SECOND);
    assert_false(relay_boot_is_slow(&watch, START + 10 * SECOND - 1, line));
    relay_boot_hear(&watch, "boot step: memory\nboot step: calibration\n", START + SECOND);
    assert_true(relay_boot_is_slow(&watch, START + 10 * SECOND, line));
    assert_string_equal(line, "the guest has been starting for 10 s and stands in step "
                              "'calibration'");
    assert_false(relay_boot_is_slow(&watch, START + 11 * SECOND, line));
    assert_int_equal(relay_boot_deadline(&watch), START + 121 * SECOND);
}

static void a_guest_without_progress_is_ended(void **state)
{
    (void)state;
    relay_boot_hear(&watch, "boot step: clock\n", START + SECOND);
    relay_boot_hear(&watch, "boot step: clock\n", START + 100 * SECOND); /* no progress */
    assert_false(relay_boot_is_stuck(&watch, START + 121 * SECOND - 1, &failure));
    assert_true(relay_boot_is_stuck(&watch, START + 121 * SECOND, &failure));
    assert_int_equal(failure.exit_status, RUN_EXIT_FAILED);
    assert_string_equal(failure.text, "the guest stands in step 'clock' of its start, made no "
                                      "progress for 120 s and was ended; -v shows what it said");
    assert_int_equal(relay_boot_deadline(&watch), UINT64_MAX);
}

/* Before the first step memory is filled: the more there is, the longer that takes. */
static void a_guest_that_says_nothing_is_ended(void **state)
{
    (void)state;
    assert_false(relay_boot_is_stuck(&watch, START + 123 * SECOND - 1, &failure));
    assert_true(relay_boot_is_slow(&watch, START + 123 * SECOND, line));
    assert_string_equal(line, "the guest has been starting for 10 s and has not reached the first "
                              "step");
    assert_true(relay_boot_is_stuck(&watch, START + 123 * SECOND, &failure));
}

static void each_step_has_its_own_time(void **state)
{
    (void)state;
    relay_boot_hear(&watch, "boot step: memory\n", START + 100 * SECOND);
    relay_boot_hear(&watch, "boot step: memory\nboot step: devices\n", START + 200 * SECOND);
    assert_false(relay_boot_is_stuck(&watch, START + 320 * SECOND - 1, &failure));
    assert_true(relay_boot_is_stuck(&watch, START + 320 * SECOND, &failure));
}

static void only_whole_lines_of_known_steps_count(void **state)
{
    static const char *const others[] = {"boot step: ",           "boot step: memory",
                                         "boot step: memoryx\n",  "boot step: lunch\n",
                                         "a boot step: memory\n", ""};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        relay_boot_hear(&watch, others[i], START + 50 * SECOND);
        assert_int_equal(watch.step, 0);
    }
    relay_boot_hear(&watch, "boot step: CPUs\nboot step: memory\n", START);
    assert_int_equal(watch.step, 6); /* not back */
}

static void nothing_is_due_when_the_start_is_over(void **state)
{
    (void)state;
    relay_boot_finish(&watch);
    relay_boot_hear(&watch, "boot step: memory\n", START);
    assert_int_equal(relay_boot_deadline(&watch), UINT64_MAX);
    assert_false(relay_boot_is_slow(&watch, START + 500 * SECOND, line));
    assert_false(relay_boot_is_stuck(&watch, START + 500 * SECOND, &failure));
}

static void limits_come_from_the_environment(void **state)
{
    (void)state;
    setenv("HR_BOOT_LIMITS", "500,2000", 1);
    relay_boot_init(&watch, 0, START);
    assert_true(relay_boot_is_slow(&watch, START + SECOND / 2, line));
    assert_true(relay_boot_is_stuck(&watch, START + 2 * SECOND, &failure));
    setenv("HR_BOOT_LIMITS", "soon", 1);
    relay_boot_init(&watch, 0, START);
    assert_int_equal(relay_boot_deadline(&watch), START + 10 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_slow_start_is_said_once, begin),
        cmocka_unit_test_setup(a_guest_without_progress_is_ended, begin),
        cmocka_unit_test_setup(a_guest_that_says_nothing_is_ended, begin),
        cmocka_unit_test_setup(each_step_has_its_own_time, begin),
        cmocka_unit_test_setup(only_whole_lines_of_known_steps_count, begin),
        cmocka_unit_test_setup(nothing_is_due_when_the_start_is_over, begin),
        cmocka_unit_test_setup(limits_come_from_the_environment, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
