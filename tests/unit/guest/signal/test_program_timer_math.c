/* Timers that repeat: the next time, and how many were missed. */
#include "guest/signal/program_timer_math.h"
#include "tests/unit/test.h"

static void check(uint64_t due, uint64_t interval, uint64_t now, uint64_t moved, uint64_t next)
{
    assert_int_equal(program_timer_forward(&due, interval, now), moved);
    assert_int_equal(due, next);
}

static void test_forward(void **state)
{
    (void)state;
    check(100, 10, 100, 1, 110); /* on time */
    check(100, 10, 109, 1, 110);
    check(100, 10, 110, 2, 120); /* exactly at the next one: that one is over, too */
    check(100, 10, 1000, 91, 1010);
    check(100, 1, 1000000, 999901, 1000001);
    check(100, 10, 5, 1, 110); /* not due yet: one interval on */
}

static void test_saturates(void **state)
{
    (void)state;
    check(100, UINT64_MAX, 100, 1, UINT64_MAX);
    check(UINT64_MAX - 5, 10, UINT64_MAX - 5, 1, UINT64_MAX);
    check(1, PROGRAM_TIMER_NS_MAX, UINT64_MAX, 4, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_saturates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
