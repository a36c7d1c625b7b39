/* Tests of host/base/progress_bar.c: what is drawn fits the terminal and says how far it is. */
#include "host/base/progress_bar.h"

#include "tests/unit/test.h"

#include <string.h>

static void fits_every_width(void **state)
{
    char text[PROGRESS_BAR_TEXT_BYTES];

    (void)state;
    for (unsigned int columns = 10; columns < 300; columns++)
        for (uint64_t done = 0; done <= 1000; done += 50) {
            progress_bar_text(text, done, 1000, 123456789012, columns);
            assert_true(strlen(text) < columns);
        }
}

static void says_how_far(void **state)
{
    char text[PROGRESS_BAR_TEXT_BYTES];

    (void)state;
    assert_string_equal(progress_bar_text(text, 500, 1000, 2000000000, 40),
                        "hr:  50% [#######.......]  2.000 s left");
    assert_string_equal(progress_bar_text(text, 500, 1000, 2000000000, 20), "hr:  50%");
    assert_string_equal(progress_bar_text(text, 1000, 1000, 2000000000, 30),
                        "hr: 100% [#######]  0 ns left");
    progress_bar_text(text, 5, 0, 0, 80); /* of nothing, or more than all, is all */
    assert_non_null(strstr(text, "100%"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_every_width),
        cmocka_unit_test(says_how_far),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
