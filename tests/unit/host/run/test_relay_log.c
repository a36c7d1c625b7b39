/* The memory of log lines: bounded, escaped, cut at lines. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "host/run/relay_log.h"

static struct relay_log log_under_test;

static void add(const char *text)
{
    relay_log_add(&log_under_test, text, strlen(text));
}

static void keeps_lines_and_escapes(void **state)
{
    (void)state;
    relay_log_init(&log_under_test, "x", RELAY_ECHO_NONE);
    add("one\r\ntwo\x1b[2J\n\tthree");
    assert_string_equal(log_under_test.text, "one\ntwo\\x1b[2J\n\tthree");
    assert_string_equal(relay_log_tail(&log_under_test, 1), "\tthree");
    assert_string_equal(relay_log_tail(&log_under_test, 2), "two\\x1b[2J\n\tthree");
    assert_string_equal(relay_log_tail(&log_under_test, 9), "one\ntwo\\x1b[2J\n\tthree");
}

static void forgets_the_oldest_lines(void **state)
{
    char last[32];

    (void)state;
    relay_log_init(&log_under_test, "x", RELAY_ECHO_NONE);
    for (int i = 0; i < 20000; i++) {
        snprintf(last, sizeof last, "line %d\n", i);
        add(last);
        assert_true(log_under_test.used <= RELAY_LOG_BYTES);
    }
    assert_string_equal(relay_log_tail(&log_under_test, 1), last);
    assert_memory_equal(log_under_test.text, "line ", 5);
}

static void survives_any_bytes(void **state)
{
    struct test_random random = {42};
    char bytes[777];

    (void)state;
    relay_log_init(&log_under_test, "x", RELAY_ECHO_NONE);
    for (int round = 0; round < 500; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)test_random_below(&random, 255);
        relay_log_add(&log_under_test, bytes, sizeof bytes);
        assert_true(log_under_test.used <= RELAY_LOG_BYTES);
        assert_int_equal(strlen(log_under_test.text), log_under_test.used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines_and_escapes),
        cmocka_unit_test(forgets_the_oldest_lines),
        cmocka_unit_test(survives_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
