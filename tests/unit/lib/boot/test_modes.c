/* lib/boot/modes.c: every mode has a name that finds it again. */
#include "tests/unit/test.h"

#include <string.h>

#include "include/hr_format.h"
#include "lib/boot/modes.h"

static void names_and_numbers_agree(void **state)
{
    (void)state;
    for (uint32_t mode = HR_MODE_OFF; mode <= HR_MODE_LATENCY; mode++) {
        assert_non_null(modes_name(mode));
        assert_int_equal(modes_find(modes_name(mode)), mode);
    }
    assert_int_equal(modes_find("timer"), HR_MODE_TIMER);
}

static void others_are_none(void **state)
{
    (void)state;
    assert_null(modes_name(HR_MODE_LATENCY + 1));
    assert_null(modes_name(UINT32_MAX));
    assert_int_equal(modes_find("time"), -1);
    assert_int_equal(modes_find(""), -1);
}

static void samples_are_taken_in_most(void **state)
{
    (void)state;
    for (uint32_t mode = HR_MODE_OFF; mode <= HR_MODE_LATENCY; mode++) {
        const char *name = modes_name(mode);
        bool none =
            strcmp(name, "off") == 0 || strcmp(name, "exact") == 0 || strcmp(name, "latency") == 0;

        assert_int_equal(modes_sample(mode), !none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_agree),
        cmocka_unit_test(others_are_none),
        cmocka_unit_test(samples_are_taken_in_most),
    };
    return cmocka_run_group_tests_name("modes", tests, NULL, NULL);
}
