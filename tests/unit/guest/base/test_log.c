/* guest/base/log.c: lines reach whoever takes them, in order; what does not fit is counted. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "guest/base/log.c"

static char taken[2 * LOG_BYTES];
static size_t taken_bytes;

static void take(const char *bytes, size_t count)
{
    memcpy(taken + taken_bytes, bytes, count);
    taken_bytes += count;
    taken[taken_bytes] = 0;
}

static int setup(void **state)
{
    (void)state;
    taken_bytes = 0;
    log_buffer_take(take);
    taken_bytes = 0;
    return 0;
}

static void lines_come_in_order(void **state)
{
    (void)state;
    log_line("one %d", 1);
    log_line("two");
    assert_false(log_buffer_empty());
    log_buffer_take(take);
    assert_string_equal(taken, "one 1\ntwo\n");
    assert_true(log_buffer_empty());
    log_buffer_take(take);
    assert_string_equal(taken, "one 1\ntwo\n");
}

static void long_lines_are_cut(void **state)
{
    char text[2000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    log_line("%s", text);
    log_buffer_take(take);
    assert_true(taken_bytes <= 512);
    assert_int_equal(taken[taken_bytes - 1], '\n');
    assert_int_equal(taken[taken_bytes - 2], 'x');
}

static void dropped_lines_are_counted(void **state)
{
    unsigned lines = LOG_BYTES / 10 + 25;

    (void)state;
    for (unsigned i = 0; i < lines; i++)
        log_line("%09u", i); /* ten bytes each */
    log_buffer_take(take);
    unsigned kept = LOG_BYTES / 10;
    char expected[64];
    snprintf(expected, sizeof expected, "%u log lines were dropped\n", lines - kept);
    assert_int_equal(taken_bytes, kept * 10 + strlen(expected));
    assert_string_equal(taken + kept * 10, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_come_in_order, setup),
        cmocka_unit_test_setup(long_lines_are_cut, setup),
        cmocka_unit_test_setup(dropped_lines_are_counted, setup),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
