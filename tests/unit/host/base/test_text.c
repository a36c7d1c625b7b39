/* Tests of host/base/text.c and host/base/output.c: escaping, quantities, CSV fields. */
#include "host/base/text.h"

#include <string.h>
#include <unistd.h>

#include "host/base/output.h"
#include "tests/unit/test.h"

static void check_escape(const char *text, const char *expected)
{
    char out[64];

    assert_string_equal(text_escape(out, sizeof out, text), expected);
}

static void hostile_bytes_are_escaped(void **state)
{
    (void)state;
    check_escape("plain", "plain");
    check_escape("\x1b[2Jred\n", "\\x1b[2Jred\\x0a");
    check_escape("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
                 "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
    check_escape("\xff\xc3", "\\xff\\xc3"); /* not UTF-8, cut UTF-8 */
    check_escape("\xc0\xaf", "\\xc0\\xaf"); /* overlong */
    check_escape("\xe0\x80\xaf", "\\xe0\\x80\\xaf"); /* overlong */
    check_escape("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
    check_escape("\xc2\x9b", "\\xc2\\x9b"); /* CSI as one control character */
    check_escape("\xe2\x80\xae", "\\xe2\\x80\\xae"); /* right-to-left override */
}

static void long_text_is_cut(void **state)
{
    char out[12];

    (void)state;
    assert_string_equal(text_escape(out, sizeof out, "abcdefghijklmnop"), "abcdefgh...");
    assert_string_equal(text_escape(out, sizeof out, "abcdefg\n"), "abcdefg...");
    assert_true(strlen(text_escape(out, 8, "\n\n\n\n")) < 8);
}

static void code_ends_where_it_should(void **state)
{
    char out[48];

    (void)state;
    assert_string_equal(text_code(out, sizeof out, "a|b`c\n", false), "`a|b'c\\x0a`");
    assert_string_equal(text_code(out, sizeof out, "a|b`c", true), "`a\\|b'c`");
    assert_string_equal(text_code(out, sizeof out, "||||||||||||||||||||||||||||", true),
                        "`\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|\\|...`");
}

static void quantities_have_units(void **state)
{
    char out[TEXT_QUANTITY_BYTES];

    (void)state;
    assert_string_equal(text_time(out, 0), "0 ns");
    assert_string_equal(text_time(out, 950), "950 ns");
    assert_string_equal(text_time(out, 10000), "10.00 us");
    assert_string_equal(text_time(out, 1204000), "1.204 ms");
    assert_string_equal(text_time(out, 3.1e9), "3.100 s");
    assert_string_equal(text_bytes(out, 64), "64 bytes");
    assert_string_equal(text_bytes(out, 1500), "1.50 KB");
    assert_string_equal(text_bytes(out, 2310000), "2.31 MB");
    assert_string_equal(text_count(out, 0), "0");
    assert_string_equal(text_count(out, 999), "999");
    assert_string_equal(text_count(out, 1234567), "1,234,567");
    assert_string_equal(text_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void output_formats_fields(void **state)
{
    static struct output out;
    char got[256];
    int pipe_ends[2];
    ssize_t count;

    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    output_init(&out, pipe_ends[1]);
    output_decimal(&out, UINT64_MAX);
    output_char(&out, ' ');
    output_hex(&out, 0);
    output_char(&out, ' ');
    output_hex(&out, UINT64_MAX);
    output_char(&out, ' ');
    output_csv(&out, "a<int, char>(\"x\")");
    output_csv(&out, "plain");
    assert_int_equal(output_flush(&out), 0);
    count = read(pipe_ends[0], got, sizeof got - 1);
    assert_true(count > 0);
    got[count] = 0;
    assert_string_equal(got, "18446744073709551615 0x0 0xffffffffffffffff "
                             "\"a<int, char>(\"\"x\"\")\"plain");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void output_remembers_a_failed_write(void **state)
{
    static struct output out;

    (void)state;
    output_init(&out, -1);
    for (size_t i = 0; i < OUTPUT_BYTES + 10; i++)
        output_char(&out, 'x');
    assert_true(out.error < 0);
    assert_int_equal(output_flush(&out), out.error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_bytes_are_escaped),
        cmocka_unit_test(code_ends_where_it_should),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(quantities_have_units),
        cmocka_unit_test(output_formats_fields),
        cmocka_unit_test(output_remembers_a_failed_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
