/* lib/program/python_layout.c: what was written is read, and nothing else. */
#include <errno.h>
#include <string.h>

#include "lib/program/python_layout.h"
#include "tests/unit/test.h"

static void numbers_come_back(void **state)
{
    struct python_layout layout, again;
    char text[PYTHON_LAYOUT_TEXT_BYTES];

    (void)state;
    for (uint32_t i = 0; i < PYTHON_LAYOUT_FIELDS; i++)
        layout.at[i] = i % 2 ? UINT64_MAX - i : i;
    python_layout_write(&layout, text);
    assert_true(strlen(text) < sizeof text);
    assert_int_equal(python_layout_read(&again, text), 0);
    assert_memory_equal(&again, &layout, sizeof layout);
    text[strlen(text) - 1] = 'x';
    assert_int_equal(python_layout_read(&again, text), -EINVAL);
    *strrchr(text, ',') = 0;
    assert_int_equal(python_layout_read(&again, text), -EINVAL);
}

static void other_text_is_refused(void **state)
{
    struct python_layout layout;

    (void)state;
    assert_int_equal(python_layout_read(&layout, ""), -EINVAL);
    assert_int_equal(python_layout_read(&layout, "1,,2"), -EINVAL);
    assert_int_equal(python_layout_read(&layout, "-1,2"), -EINVAL);
    assert_int_equal(python_layout_read(&layout, "18446744073709551616,1"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(other_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
