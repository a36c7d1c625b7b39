/* lib/format.c against the C library's printf, and its limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format.h"
#include "tests/unit/test.h"

/* Formats both ways and compares text and length. */
#define SAME(...)                                                              \
    do {                                                                       \
        char ours[256], theirs[256];                                           \
        int count = format_text(ours, sizeof ours, __VA_ARGS__);               \
        assert_int_equal(count, snprintf(theirs, sizeof theirs, __VA_ARGS__)); \
        assert_string_equal(ours, theirs);                                     \
    } while (0)

static void test_integers(void **state)
{
    static const long values[] = {
        0, 1, -1, 9, 10, -10, 2147483647, -2147483647 - 1, 4294967295, INT64_MAX, INT64_MIN};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        SAME("%ld %lu %lx", values[i], (unsigned long)values[i], (unsigned long)values[i]);
        SAME("%d %u %x %i", (int)values[i], (unsigned)values[i], (unsigned)values[i],
             (int)values[i]);
        SAME("%llu %llx %zu", (unsigned long long)values[i], (unsigned long long)values[i],
             (size_t)values[i]);
        SAME("[%12ld|%-12ld|%012ld|%3ld]", values[i], values[i], values[i], values[i]);
        SAME("[%016lx|%-20lx|%20lx]", (unsigned long)values[i], (unsigned long)values[i],
             (unsigned long)values[i]);
    }
}

static void test_text(void **state)
{
    (void)state;
    SAME("%s", "");
    SAME("a%sb%cc%%", "text", 'x');
    SAME("[%10s|%-10s|%2s]", "text", "text", "text");
    SAME("[%*s|%-*s|%0*x]", 7, "text", 6, "text", 5, 0xabu);
    SAME("%o %04o", 511u, 18u);
    SAME("%X %08X %x", 48879u, 0xabcdefu, 48879u);
    SAME("[%3c|%-3c]", 'x', 'y');
    SAME("%p", (void *)0x1234abcd);
    SAME("plain");
}

static void test_room_is_kept(void **state)
{
    const char *text = "0123456789";

    (void)state;
    for (size_t room = 0; room < 14; room++) {
        char *out = malloc(room); /* ASan watches what lies behind */

        assert_int_equal(format_text(out, room, "%s", text), 10);
        if (room) {
            size_t fits = room - 1 < 10 ? room - 1 : 10;

            assert_int_equal(strlen(out), fits);
            assert_memory_equal(out, text, fits);
        }
        free(out);
    }
}

static void test_null_and_unfinished(void **state)
{
    char out[32];
    const char *volatile nothing = NULL, *volatile unfinished = "a%", *volatile width = "a%08";

    (void)state;
    format_text(out, sizeof out, "%s", nothing);
    assert_string_equal(out, "(null)");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    format_text(out, sizeof out, unfinished);
    assert_string_equal(out, "a");
    format_text(out, sizeof out, width);
#pragma GCC diagnostic pop
    assert_string_equal(out, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_room_is_kept),
        cmocka_unit_test(test_null_and_unfinished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
