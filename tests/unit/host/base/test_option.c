/* Options that are only stored: kinds of values, limits, keys that are not in the list. */
#include "tests/unit/test.h"

#include <errno.h>

#include "host/base/option.h"

struct given {
    const char *text;
    bool flag;
    uint64_t ns, bytes, number;
};

static const struct option_field fields[] = {
    {'t', OPTION_TEXT, .offset = offsetof(struct given, text)},
    {'f', OPTION_FLAG, .offset = offsetof(struct given, flag)},
    {'n', OPTION_TIME, .offset = offsetof(struct given, ns), "time", "not a time"},
    {'b', OPTION_BYTES, .offset = offsetof(struct given, bytes), "bytes", "not a size"},
    {'c', OPTION_NUMBER, .offset = offsetof(struct given, number), "count", "not a number", 1, 9},
    {0},
};

static void stores_each_kind(void **state)
{
    struct given given = {0};
    char text[] = "word", time[] = "2us", bytes[] = "1K", number[] = "9";

    (void)state;
    assert_true(option_store(fields, 't', text, &given, NULL));
    assert_true(option_store(fields, 'f', NULL, &given, NULL));
    assert_true(option_store(fields, 'n', time, &given, NULL));
    assert_true(option_store(fields, 'b', bytes, &given, NULL));
    assert_true(option_store(fields, 'c', number, &given, NULL));
    assert_ptr_equal(given.text, text);
    assert_true(given.flag);
    assert_int_equal(given.ns, 2000);
    assert_int_equal(given.bytes, 1024);
    assert_int_equal(given.number, 9);
}

static void leaves_other_keys(void **state)
{
    struct given given = {0};

    (void)state;
    assert_false(option_store(fields, 'x', NULL, &given, NULL));
    assert_false(option_store(fields, ARGP_KEY_ARG, NULL, &given, NULL));
    assert_null(given.text);
}

static void reads_digits_alone(void **state)
{
    static const char *const wrong[] = {
        "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "3x", "18446744073709551616"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(option_number(wrong[i], 0, UINT64_MAX, &value), -EINVAL);
    assert_int_equal(option_number("4", 5, 9, &value), -EINVAL);
    assert_int_equal(option_number("10", 5, 9, &value), -EINVAL);
    assert_int_equal(value, 7);
    assert_int_equal(option_number("18446744073709551615", 0, UINT64_MAX, &value), 0);
    assert_true(value == UINT64_MAX);
}

static void finds_words(void **state)
{
    static const char *const words[] = {"one", "two"};

    (void)state;
    assert_int_equal(option_word("two", words, 2), 1);
    assert_int_equal(option_word("tw", words, 2), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_each_kind),
        cmocka_unit_test(leaves_other_keys),
        cmocka_unit_test(reads_digits_alone),
        cmocka_unit_test(finds_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
