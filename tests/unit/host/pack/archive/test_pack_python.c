/* host/pack/archive/pack_python.c: the CPython of this machine, files that are none. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/pack/archive/pack_python.h"
#include "tests/unit/test.h"

#define DEBIANS "/usr/bin/python3.11"

/* Debian 12's; Include/internal of its package libpython3.11-dev says the same. */
static void debians_python(void **state)
{
    struct pack_python python;

    (void)state;
    if (access(DEBIANS, R_OK) != 0) {
        print_message("%s is not installed\n", DEBIANS);
        skip();
    }
    assert_int_equal(pack_python_look(DEBIANS, &python), 0);
    assert_string_equal(python.name, "python3.11");
    assert_int_equal(python.layout.at[PYTHON_THREADS], 16);
    assert_int_equal(python.layout.at[PYTHON_CODE_UNITS], 184);
    assert_int_not_equal(python.layout.at[PYTHON_RUNTIME], 0);
    assert_int_not_equal(python.layout.at[PYTHON_CODE_TYPE], 0);
}

static void files_that_are_no_python(void **state)
{
    struct pack_python python;

    (void)state;
    assert_int_equal(pack_python_look("/proc/self/exe", &python), -ENOENT);
    assert_int_equal(pack_python_look("/no/such/file", &python), -ENOENT);
    assert_int_equal(pack_python_look("/etc/passwd", &python), -ENOENT);
    assert_int_equal(pack_python_look("/dev/null", &python), -ENOENT);
}

static void only_names_of_python_are_looked_at(void **state)
{
    struct pack_entry entries[] = {
        {.name = (char *)"etc/passwd", .source = (char *)DEBIANS},
        {.name = (char *)"usr/bin/python3"},
        {.name = (char *)"usr/lib/libpython3.so", .source = (char *)"/proc/self/exe"}};
    struct pack_entry *all[] = {&entries[0], &entries[1], &entries[2]};
    const struct pack_list list = {.entries = all, .count = 3};
    struct pack_python python;

    (void)state;
    assert_int_equal(pack_python_find(&list, &python), -ENOENT);
}

static void words_of_commands(void **state)
{
    struct pack_python python;

    (void)state;
    assert_int_equal(pack_python_word("echo python; cat /etc/passwd", "/usr/bin", &python),
                     -ENOENT);
    assert_int_equal(pack_python_word("exec python3 x.py", "/no/such", &python), -ENOENT);
    assert_int_equal(pack_python_word("exec python3 x.py", NULL, &python), -ENOENT);
    assert_int_equal(pack_python_word("", "/usr/bin", &python), -ENOENT);
    if (access(DEBIANS, R_OK) != 0)
        skip();
    assert_int_equal(pack_python_word("cd /;python3.11 x.py", "/no/such:/usr/bin", &python), 0);
    assert_string_equal(python.name, "python3.11");
    assert_int_equal(pack_python_word("(" DEBIANS ")", NULL, &python), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debians_python),
        cmocka_unit_test(files_that_are_no_python),
        cmocka_unit_test(words_of_commands),
        cmocka_unit_test(only_names_of_python_are_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
