/* Rows of CSV and JSON by a format, and arrays that grow. */
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/base/output.h"
#include "tests/unit/test.h"

static struct output out;

static const char *written(void)
{
    output_char(&out, 0);
    return out.buffer;
}

static void csv_quotes_what_needs_it(void **state)
{
    const char *none = *state;

    output_init(&out, -1);
    output_csv_print(&out, "%s,%s,%s,%u,%lu,%#lx,%d\n", "a", "b,c", none, 7u, UINT64_MAX, 0x1000ul,
                     true);
    assert_string_equal(written(), "a,\"b,c\",,7,18446744073709551615,0x1000,true\n");
}

static void json_quotes_every_text(void **state)
{
    const char *none = *state;

    output_init(&out, -1);
    output_json_print(&out, "{%s:%s,\"n\":%g,\"x\":\"%#x\",\"no\":%s,\"d\":%d}", "k", "a\"b\n", 0.5,
                      0u, none, false);
    assert_string_equal(
        written(), "{\"k\":\"a\\\"b\\\\x0a\",\"n\":0.5,\"x\":\"0x0\",\"no\":null,\"d\":false}");
}

static void number_is(uint64_t value)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, "%lu,0x%lx", value, value);
    output_init(&out, -1);
    output_decimal(&out, value);
    output_char(&out, ',');
    output_hex(&out, value);
    assert_string_equal(written(), wanted);
}

static void numbers_have_all_their_digits(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++)
        number_is(i);
    for (uint64_t power = 1; power != 0; power = power > UINT64_MAX / 10 ? 0 : power * 10)
        for (uint64_t i = 0; i < 10; i++) {
            number_is(power * i - 1);
            number_is(power * i);
            number_is(power * i + 7);
        }
    for (uint32_t bit = 0; bit < 64; bit++)
        for (uint64_t i = 1; i < 16; i++)
            number_is((i << bit) + 0xabcdef);
    number_is(UINT64_MAX);
}

static void arrays_grow(void **state)
{
    uint32_t *items = NULL;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(array_grow(&items, i, sizeof *items), 0);
        items[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(json_quotes_every_text),
        cmocka_unit_test(numbers_have_all_their_digits),
        cmocka_unit_test(arrays_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
