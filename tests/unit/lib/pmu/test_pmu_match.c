/* lib/pmu/pmu_match.c: an assignment is found whenever there is one. */
#include "lib/pmu/pmu_match.h"

#include <stdbool.h>

#include "tests/unit/test.h"

static uint8_t counters[HR_EVENTS_MAX];

static void everything_anywhere(void **state)
{
    const uint32_t allowed[] = {0xf, 0xf, 0xf, 0xf, 0xf};

    (void)state;
    assert_int_equal(pmu_match(allowed, 4, counters), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(counters[i], i);
    assert_int_equal(pmu_match(allowed, 5, counters), 5);
}

/* First fit would give counter 0 to the first event, and fail. */
static void earlier_events_move_out_of_the_way(void **state)
{
    const uint32_t allowed[] = {0x3, 0x5, 0x1};

    (void)state;
    assert_int_equal(pmu_match(allowed, 3, counters), 0);
    assert_int_equal(counters[0], 1);
    assert_int_equal(counters[1], 2);
    assert_int_equal(counters[2], 0);
}

static void names_the_event_that_does_not_fit(void **state)
{
    const uint32_t allowed[] = {0x4, 0xf, 0x4, 0xf};

    (void)state;
    assert_int_equal(pmu_match(allowed, 4, counters), 3);
    assert_int_equal(pmu_match(allowed, 0, counters), 0);
    assert_int_equal(pmu_match((const uint32_t[]){0}, 1, counters), 1);
}

/* Compares with trying everything. */
static bool possible(const uint32_t *allowed, uint32_t count, uint32_t used)
{
    if (count == 0)
        return true;
    for (uint32_t c = 0; c < 8; c++) {
        if (allowed[0] & 1u << c && !(used & 1u << c) &&
            possible(allowed + 1, count - 1, used | 1u << c))
            return true;
    }
    return false;
}

static void agrees_with_exhaustive_search(void **state)
{
    struct test_random random = {7};
    unsigned placed = 0;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        uint32_t allowed[6], used = 0;
        for (int i = 0; i < 6; i++)
            allowed[i] = (uint32_t)(test_random_next(&random) & test_random_next(&random) & 0xff);
        bool fits = pmu_match(allowed, 6, counters) == 0;
        assert_int_equal(fits, possible(allowed, 6, 0));
        for (int i = 0; fits && i < 6; i++) {
            assert_true(allowed[i] & 1u << counters[i]);
            assert_false(used & 1u << counters[i]);
            used |= 1u << counters[i];
        }
        placed += fits;
    }
    assert_in_range(placed, 100, 4900); /* both answers were tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_anywhere),
        cmocka_unit_test(earlier_events_move_out_of_the_way),
        cmocka_unit_test(names_the_event_that_does_not_fit),
        cmocka_unit_test(agrees_with_exhaustive_search),
    };
    return cmocka_run_group_tests_name("pmu_match", tests, NULL, NULL);
}
