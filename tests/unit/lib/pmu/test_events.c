/* The generic events: lookup by name, and ratios that make sense. */
#include "lib/pmu/events.h"

#include <string.h>

#include "tests/unit/test.h"

static const struct event_info *find(const char *name)
{
    return events_find(name, strlen(name));
}

static void finds_by_exact_name(void **state)
{
    (void)state;
    for (const struct event_info *e = events_table; e->name; e++)
        assert_ptr_equal(find(e->name), e);
    assert_null(find(""));
    assert_null(find("cycle"));
    assert_null(find("cyclesx"));
    assert_null(find("instructions:u"));
    assert_null(find("MEM_INST_RETIRED.ALL_LOADS"));
    assert_non_null(events_find("cycles:u", 6));
    assert_non_null(find("LLC-misses"));
}

static void ratios_are_usable(void **state)
{
    (void)state;
    for (const struct event_info *e = events_table; e->name; e++) {
        assert_true(strlen(e->name) > 0 && strlen(e->description) > 0);
        assert_in_range(e->stub_numerator, 1, e->stub_denominator * 2);
        assert_true(e->stub_denominator > 0);
        for (const struct event_info *other = events_table; other != e; other++)
            assert_string_not_equal(other->name, e->name);
    }
    assert_int_equal(find("instructions")->stub_numerator, 1);
    assert_int_equal(find("instructions")->stub_denominator, 1);
}

static void aliases_agree(void **state)
{
    static const char *const pairs[][2] = {{"branches", "branch-instructions"},
                                           {"cycles", "cpu-cycles"},
                                           {"cache-misses", "LLC-misses"}};

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct event_info *a = find(pairs[i][0]);
        const struct event_info *b = find(pairs[i][1]);

        assert_int_equal(a->stub_numerator, b->stub_numerator);
        assert_int_equal(a->stub_denominator, b->stub_denominator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_exact_name),
        cmocka_unit_test(ratios_are_usable),
        cmocka_unit_test(aliases_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
