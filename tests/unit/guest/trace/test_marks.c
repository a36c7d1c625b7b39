/* guest/trace/marks.c: one number a text, and what happens when there are too many. */
#include "tests/unit/test.h"

#include <stdio.h>

#include "guest/trace/marks.c"

static unsigned notices;

void log_line(const char *format, ...)
{
    (void)format;
    notices++;
}

static void test_same_text_same_number(void **state)
{
    uint32_t bytes;

    (void)state;
    int64_t a = marks_number("parse", 5), b = marks_number("parsed", 6);
    assert_true(a >= 0 && b >= 0 && a != b);
    assert_int_equal(marks_number("parse", 5), a);
    assert_int_equal(marks_number("parsed, and more", 6), b); /* counted, not NUL-terminated */
    assert_memory_equal(marks_text((uint64_t)a, &bytes), "parse", 5);
    assert_int_equal(bytes, 5);
    assert_memory_equal(marks_text((uint64_t)b, &bytes), "parsed", 6);
}

static void test_too_many(void **state)
{
    char text[32];
    int64_t last = 0;
    uint32_t i = 0, bytes;

    (void)state;
    for (; last >= 0 && i <= MARKS_MAX; i++)
        last = marks_number(text, (uint32_t)snprintf(text, sizeof text, "mark %u", i));
    assert_int_equal(last, -ENOSPC);
    assert_int_equal(i, MARKS_MAX - 2 + 1); /* two from the test before, and the refused one */
    assert_int_equal(marks_number("one more", 8), -ENOSPC);
    assert_int_equal(notices, 1);
    for (uint32_t j = 0; j + 1 < i; j++) { /* all others are still what they were */
        int length = snprintf(text, sizeof text, "mark %u", j);
        int64_t number = marks_number(text, (uint32_t)length);
        assert_true(number >= 0);
        assert_memory_equal(marks_text((uint64_t)number, &bytes), text, (size_t)length);
        assert_int_equal(bytes, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_same_number),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
