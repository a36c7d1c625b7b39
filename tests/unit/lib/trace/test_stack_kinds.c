/* lib/trace/stack_kinds.c: names and limits. */
#include "tests/unit/test.h"

#include "lib/trace/stack_kinds.h"

static void names_are_found_again(void **state)
{
    (void)state;
    assert_string_equal(stack_kinds_name(HR_STACK_FP), "fp");
    for (uint32_t kind = HR_STACK_FP; kind <= HR_STACK_PYTHON; kind++)
        assert_int_equal(stack_kinds_find(stack_kinds_name(kind)), kind);
    assert_null(stack_kinds_name(0));
    assert_null(stack_kinds_name(HR_STACK_PYTHON + 1));
    assert_int_equal(stack_kinds_find(""), 0);
    assert_int_equal(stack_kinds_find("fp,1"), 0);
}

static void limits_have_bounds(void **state)
{
    (void)state;
    assert_true(stack_kinds_limit_ok(HR_STACK_FP, 1));
    assert_true(stack_kinds_limit_ok(HR_STACK_FP, HR_STACK_FRAMES_MAX));
    assert_false(stack_kinds_limit_ok(HR_STACK_FP, HR_STACK_FRAMES_MAX + 1));
    assert_false(stack_kinds_limit_ok(HR_STACK_FP, 0));
    assert_true(stack_kinds_limit_ok(HR_STACK_DWARF, 8));
    assert_true(stack_kinds_limit_ok(HR_STACK_DWARF, HR_STACK_BYTES_MAX));
    assert_false(stack_kinds_limit_ok(HR_STACK_DWARF, 12));
    assert_false(stack_kinds_limit_ok(HR_STACK_DWARF, HR_STACK_BYTES_MAX + 8));
    assert_true(stack_kinds_limit_ok(HR_STACK_PYTHON, HR_STACK_FRAMES_MAX));
    assert_false(stack_kinds_limit_ok(HR_STACK_PYTHON, HR_STACK_FRAMES_MAX + 1));
    assert_false(stack_kinds_limit_ok(0, 8));
    assert_true(stack_kinds_chains(HR_STACK_FP) && stack_kinds_chains(HR_STACK_PYTHON));
    assert_false(stack_kinds_chains(HR_STACK_DWARF) || stack_kinds_chains(0));
    assert_false(stack_kinds_limit_ok(HR_STACK_PYTHON + 1, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(limits_have_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
