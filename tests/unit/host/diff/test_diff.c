/* Tests of host/diff/diff.c: places are joined by name, limits are read and kept. */
#include "host/diff/diff.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/test.h"

static struct diff_row row(const char *name, const char *object, uint64_t samples, uint64_t sum)
{
    return (struct diff_row){.name = (char *)(uintptr_t)name,
                             .object = (char *)(uintptr_t)object,
                             .counts = {.samples = samples, .sums = {sum}}};
}

static void limits_are_shares_or_numbers(void **state)
{
    static const char *const bad[] = {"", "%", "one", "-1", "1 % more", "nan", "inf", "1%%", "5 x"};
    struct diff_limit limit;

    (void)state;
    assert_true(diff_parse_limit("1%", &limit));
    assert_true(limit.percent && limit.value == 1 && limit.given);
    assert_true(diff_parse_limit("0.5 %", &limit) && limit.percent && limit.value == 0.5);
    assert_true(diff_parse_limit("500", &limit) && !limit.percent && limit.value == 500);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(diff_parse_limit(bad[i], &limit));
}

static void only_growth_above_the_limit_fails(void **state)
{
    struct diff_limit one = {1, true, true}, five = {5, false, true}, none = {0, true, true};
    struct diff_change change = {.before = 1000, .after = 1010};

    (void)state;
    assert_false(diff_grew(&change, &one)); /* just one percent */
    assert_true(diff_grew(&change, &five));
    assert_true(diff_grew(&change, &none));
    change.after = 1011;
    assert_true(diff_grew(&change, &one));
    change.after = 0;
    assert_false(diff_grew(&change, &none));
    assert_true(diff_exceeds(&change, &one));
    change = (struct diff_change){.before = 0, .after = 1};
    assert_true(diff_grew(&change, &one)); /* from nothing is more than any share */
    change = (struct diff_change){.before = 7, .after = 7};
    assert_false(diff_grew(&change, &none));
}

static void places_are_joined_by_name_and_object(void **state)
{
    struct diff_row before[] = {row("f", "libc", 1, 5), row("f", "prog", 1, 10),
                                row("gone", "prog", 1, 70)};
    struct diff_row after[] = {row("f", "prog", 1, 30), row("new", "prog", 1, 60),
                               row("same", "x", 0, 0)};
    struct diff_side a = {.rows = before, .row_count = 3}, b = {.rows = after, .row_count = 3};
    struct function_choice choice;
    struct diff_change change;
    struct diff diff;

    (void)state;
    trace_info_init(&a.scan.info);
    a.scan.info.event_count = 1;
    strcpy(a.scan.info.events[0].name, "instructions");
    b.scan.info = a.scan.info;
    assert_int_equal(diff_compare(&diff, &a, &b, NULL), 0);
    assert_int_equal(diff.place_count, 5);
    assert_string_equal(diff.places[0].name, "gone");
    assert_true(diff.places[0].in_before && !diff.places[0].in_after);
    assert_string_equal(diff.places[1].name, "new");
    assert_int_equal(diff.places[2].before, 10);
    assert_int_equal(diff.places[2].after, 30);
    function_choice_init(&choice, "f");
    diff_offer_functions(&diff, &choice);
    assert_string_equal(function_choice_name(&choice, "", ""), "f");
    diff_function(&diff, &choice, &change);
    assert_int_equal(change.before, 15);
    assert_int_equal(change.after, 30);
    function_choice_init(&choice, "same"); /* not a sample */
    diff_offer_functions(&diff, &choice);
    assert_int_equal(choice.count, 0);
    diff_free(&diff);
    assert_int_equal(diff_compare(&diff, &a, &b, "cycles"), -ENOENT);
    assert_int_equal(diff_compare(&diff, &a, &b, "samples"), 0);
    assert_int_equal(diff.event, -1);
    diff_free(&diff);
}

/* 100 samples of 1000 instructions each on both sides, in 9 and 16 runs: 3 * 1000 * sqrt(25). */
static void a_change_within_the_error_is_not_certain(void **state)
{
    struct diff_side a = {.all = {.samples = 100, .sums = {100000}}}, b = a;
    struct diff diff = {.a = &a, .b = &b};
    struct diff_change change = {.before = 50000, .after = 65000, .runs = {9, 16}};

    (void)state;
    assert_float_equal(diff_chance(&diff, &change), 15000, 1e-6);
    assert_false(diff_is_certain(&diff, &change));
    change.after = 65001;
    assert_true(diff_is_certain(&diff, &change));
    change.before = 80002;
    assert_true(diff_is_certain(&diff, &change));
    assert_true(diff_is_sampled(&diff));
    diff.event = diff.event_b = -1; /* samples: each is one */
    assert_float_equal(diff_chance(&diff, &change), 15, 1e-6);
    a.scan.info.has_exact = b.scan.info.has_exact = true;
    assert_false(diff_is_sampled(&diff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_shares_or_numbers),
        cmocka_unit_test(only_growth_above_the_limit_fails),
        cmocka_unit_test(places_are_joined_by_name_and_object),
        cmocka_unit_test(a_change_within_the_error_is_not_certain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
