/* Times and sizes as people type them. */
#include "tests/unit/test.h"

#include <errno.h>

#include "host/base/units.h"

static void parses_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"500ns", 500},       {"1us", 1000},          {"10us", 10000},
        {"1.5us", 1500},      {"2ms", 2000000},       {"1s", 1000000000},
        {"0.25s", 250000000}, {"1m", 60000000000ull}, {"2h", 7200000000000ull},
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t ns = 0;

        assert_int_equal(units_parse_time(good[i].text, UNITS_NEEDED, &ns), 0);
        assert_int_equal(ns, good[i].ns);
    }
}

static void a_bare_number_needs_a_default_unit(void **state)
{
    uint64_t ns = 7;

    (void)state;
    assert_int_equal(units_parse_time("10", UNITS_NEEDED, &ns), -EINVAL);
    assert_int_equal(ns, 7);
    assert_int_equal(units_parse_time("10", UNITS_SECOND, &ns), 0);
    assert_int_equal(ns, 10 * UNITS_SECOND);
}

static void refuses_what_is_no_time(void **state)
{
    static const char *const bad[] = {"",     "us",  "1 us", "-1us", "+1us",  "1usx",
                                      "0x1s", "inf", "nan",  "1e3s", "1.2.3s"};
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(units_parse_time(bad[i], UNITS_SECOND, &ns), -EINVAL);
    assert_int_equal(units_parse_time("99999999999999999999s", UNITS_SECOND, &ns), -ERANGE);
}

static void parses_sizes(void **state)
{
    uint64_t bytes;

    (void)state;
    assert_int_equal(units_parse_bytes("64M", &bytes), 0);
    assert_int_equal(bytes, 64ull << 20);
    assert_int_equal(units_parse_bytes("1.5GiB", &bytes), 0);
    assert_int_equal(bytes, 3ull << 29);
    assert_int_equal(units_parse_bytes("4096", &bytes), 0);
    assert_int_equal(bytes, 4096);
    assert_int_equal(units_parse_bytes("64X", &bytes), -EINVAL);
    assert_int_equal(units_parse_bytes("99999999T", &bytes), -ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_times),
        cmocka_unit_test(a_bare_number_needs_a_default_unit),
        cmocka_unit_test(refuses_what_is_no_time),
        cmocka_unit_test(parses_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
