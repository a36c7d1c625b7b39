/* Names that are made of anything, as of an archive's file or what SMBIOS says. */
#include "lib/boot/boot_value.h"

#include <string.h>

#include "tests/unit/test.h"

static const char *sanitised(const char *text, size_t room)
{
    static char out[64];

    memset(out, '#', sizeof out);
    return boot_value_sanitise((struct boot_text){text, strlen(text)}, out, room) ? out : NULL;
}

static void makes_names(void **state)
{
    (void)state;
    assert_string_equal(sanitised("Standard PC (Q35 + ICH9, 2009)", 64),
                        "Standard_PC_Q35_ICH9_2009");
    assert_string_equal(sanitised("..hidden", 64), "hidden");
    assert_string_equal(sanitised("a.b-c_d", 64), "a.b-c_d");
    assert_string_equal(sanitised("  x  ", 64), "x");
    assert_string_equal(sanitised("abcdef", 4), "abc");
    assert_string_equal(sanitised("ab  cd", 4), "ab");
    assert_null(sanitised("", 64));
    assert_null(sanitised("-", 64));
    assert_null(sanitised(" \x80\xff ", 64));
    assert_null(sanitised("a", 1));
}

static void takes_what_fits(void **state)
{
    struct boot_text text = {"abc", 3};
    char out[4] = "";

    (void)state;
    assert_true(boot_value_text(text, out, 4));
    assert_string_equal(out, "abc");
    assert_false(boot_value_text(text, out, 3));
    assert_false(boot_value_text(text, out, 0));
    assert_false(boot_value_text((struct boot_text){"", 0}, out, 4));
    assert_false(boot_value_text((struct boot_text){"a\tb", 3}, out, 4));
}

static void reads_sizes_and_times(void **state)
{
    uint64_t value = 7;

    (void)state;
#define SIZE(t) boot_value_size((struct boot_text){t, sizeof t - 1}, &value)
#define TIME(t) boot_value_time((struct boot_text){t, sizeof t - 1}, &value)
    assert_false(SIZE("") || SIZE("K") || SIZE("1 K") || SIZE("1KB") || SIZE("+1") || SIZE("0x10"));
    assert_false(SIZE("18446744073709551616") || SIZE("16777216T"));
    assert_true(value == 7);
    assert_true(SIZE("18446744073709551615") && value == UINT64_MAX);
    assert_true(SIZE("16777215T") && value == 16777215ull << 40);
    assert_true(SIZE("3k") && value == 3072);
    assert_false(TIME("1") || TIME("s") || TIME("1.5s") || TIME("1S") || TIME("20000000000s"));
    assert_true(TIME("1ns") && value == 1);
    assert_true(TIME("7us") && value == 7000);
    assert_true(TIME("3m") && value == 180000000000ull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_names),
        cmocka_unit_test(takes_what_fits),
        cmocka_unit_test(reads_sizes_and_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
