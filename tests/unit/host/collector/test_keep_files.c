/* Tests of host/collector/keep_files.c: where nothing is kept, nothing of the caller's is touched.
 */
#include "host/collector/keep_files.h"

#include <fcntl.h>

#include "tests/unit/test.h"

static void closing_without_a_directory_leaves_descriptors_alone(void **state)
{
    struct keep_files k;

    (void)state;
    assert_int_equal(keep_files_open(&k, NULL, 1 << 20), 0);
    keep_files_close(&k);
    for (int fd = 0; fd < 3; fd++)
        assert_true(fcntl(fd, F_GETFD) >= 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_without_a_directory_leaves_descriptors_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
