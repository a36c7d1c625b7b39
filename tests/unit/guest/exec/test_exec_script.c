/* The first lines of scripts, as Linux's binfmt_script takes them apart. */
#include <errno.h>
#include <string.h>

#include "guest/exec/exec_script.c"
#include "tests/unit/test.h"

static struct exec_script script;

static int parse(const char *text)
{
    memset(&script, 0, sizeof script);
    memcpy(script.line, text, strnlen(text, sizeof script.line));
    return exec_script_parse(&script);
}

static void check(const char *text, const char *interpreter, const char *argument)
{
    assert_int_equal(parse(text), 0);
    assert_string_equal(script.interpreter, interpreter);
    if (argument == NULL)
        assert_null(script.argument);
    else
        assert_string_equal(script.argument, argument);
}

static void test_lines(void **state)
{
    (void)state;
    check("#!/bin/sh\necho", "/bin/sh", NULL);
    check("#!/bin/sh", "/bin/sh", NULL);
    check("#! \t /bin/sh\t \n", "/bin/sh", NULL);
    check("#!/bin/sh -e -x \t\nx", "/bin/sh", "-e -x");
    check("#!/bin/sh \t a\n", "/bin/sh", "a");
    check("#!b\n", "b", NULL);
    check("#!/bin/sh\r\n", "/bin/sh\r", NULL);
}

static void test_no_scripts(void **state)
{
    (void)state;
    assert_int_equal(parse(""), 1);
    assert_int_equal(parse("#"), 1);
    assert_int_equal(parse("# !/bin/sh\n"), 1);
    assert_int_equal(parse("\177ELF"), 1);
    check("#!", "", NULL); /* which no file is called */
    assert_int_equal(parse("#!\n/bin/sh\n"), -ENOEXEC);
    assert_int_equal(parse("#! \t \n"), -ENOEXEC);
}

/* A line without an end in the first 256 bytes is cut if only its argument suffers. */
static void test_long_lines(void **state)
{
    char text[300];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "#!/", 3);
    text[sizeof text - 1] = '\0';
    assert_int_equal(parse(text), -ENOEXEC);
    text[20] = ' ';
    assert_int_equal(parse(text), 0);
    assert_int_equal(strlen(script.interpreter), 18);
    assert_int_equal(strlen(script.argument), EXEC_SCRIPT_BYTES - 1 - 21);
    memset(text + 2, ' ', sizeof text - 3);
    assert_int_equal(parse(text), -ENOEXEC);
    text[EXEC_SCRIPT_BYTES - 1] = '\n';
    memset(text + 2, 'y', EXEC_SCRIPT_BYTES - 3);
    assert_int_equal(parse(text), 0);
    assert_int_equal(strlen(script.interpreter), EXEC_SCRIPT_BYTES - 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_scripts),
        cmocka_unit_test(test_long_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
