/* Tests of host/metrics/formula.c: what formulas mean, and that they are bounded. */
#include "host/metrics/formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/unit/test.h"

static const char *error;
static uint32_t at;

/* The value with a = 6, b = 3, c-d = 0 by the order in which names are first seen. */
static double value_of(const char *text)
{
    static const struct {
        const char *name;
        double value;
    } known[] = {{"a", 6}, {"b", 3}, {"c-d", 0}, {"E.1:f", 10}};
    struct formula f;
    double values[FORMULA_NAMES_MAX];

    error = formula_parse(&f, text, &at);
    if (error != NULL)
        return NAN;
    for (uint32_t i = 0; i < f.name_count; i++)
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (strcasecmp(f.names[i], known[k].name) == 0)
                values[i] = known[k].value;
    return formula_value(&f, values);
}

static void computes(void **state)
{
    (void)state;
    assert_true(value_of("1 + 2 * 3") == 7);
    assert_true(value_of("(1 + 2) * 3") == 9);
    assert_true(value_of("10 - 2 - 3") == 5);
    assert_true(value_of("12 / 2 / 3") == 2);
    assert_true(value_of("2.5*2") == 5);
    assert_true(value_of("a / b") == 2);
    assert_true(value_of("A / B + a") == 8);
    assert_true(value_of("100 * c-d / a") == 0);
    assert_true(value_of("a -b") == 3);
    assert_true(value_of("e.1:F") == 10);
    assert_true(value_of("max(0, b - a)") == 0);
    assert_true(value_of("min(a, max(b, 4)) - 1") == 3);
}

static void compares(void **state)
{
    (void)state;
    assert_true(value_of("a > 5 & b > 2") == 1);
    assert_true(value_of("a > 5 & b > 3") == 0);
    assert_true(value_of("a < 5 | b < 4") == 1);
    assert_true(value_of("a < 5 | b < 2 & a > 1") == 0);
}

static void has_no_value(void **state)
{
    (void)state;
    assert_true(isnan(value_of("a / c-d")));
    assert_null(error);
    assert_true(isnan(value_of("c-d / c-d")));
    assert_true(isnan(value_of("1 + a / c-d")));
    assert_true(isnan(value_of("max(0, a / c-d)")));
    assert_true(isnan(value_of("a / c-d > 5")));
    assert_null(error);
}

static void refuses(void **state)
{
    static const struct {
        const char *text, *error;
        uint32_t at;
    } bad[] = {
        {"", "a value is missing", 0},        {"a +", "a value is missing", 3},
        {"a b", "an operator is missing", 2}, {"(a", "')' is missing", 2},
        {"max a", "'(' is missing", 4},       {"max(a)", "',' is missing", 5},
        {"1.2.3", "this is no number", 5},    {"a ? b", "an operator is missing", 2},
        {"-a", "a value is missing", 0},      {"a)", "an operator is missing", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        value_of(bad[i].text);
        assert_non_null(error);
        assert_string_equal(error, bad[i].error);
        assert_int_equal(at, bad[i].at);
    }
}

static void is_bounded(void **state)
{
    char text[4096] = "";

    (void)state;
    memset(text, '(', sizeof text - 1);
    value_of(text);
    assert_string_equal(error, "it is too deep");
    for (int i = 0; i < 200; i++)
        strcpy(text + 2 * (size_t)i, "1+");
    strcat(text, "1");
    value_of(text);
    assert_string_equal(error, "it is too long");
    strcpy(text, "x0");
    for (int i = 1; i <= (int)FORMULA_NAMES_MAX; i++)
        sprintf(text + strlen(text), " + x%d", i);
    value_of(text);
    assert_string_equal(error, "it has too many names, or one that is too long");
    memset(text, 'n', 64);
    text[64] = 0;
    value_of(text);
    assert_string_equal(error, "it has too many names, or one that is too long");
    memset(text, '1', 64);
    value_of(text);
    assert_string_equal(error, "a number is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes), cmocka_unit_test(compares),   cmocka_unit_test(has_no_value),
        cmocka_unit_test(refuses),  cmocka_unit_test(is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
