/* Tests of host/export/text/stack_text.c and functions.c: names are safe, roots are said, numbers
 * stay.
 */
#include "host/export/text/stack_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"

static struct output out;

static void begin(void)
{
    output_init(&out, memfd_create("out", 0));
    assert_true(out.fd >= 0);
}

static void written_is(const char *wanted)
{
    char got[4096];
    ssize_t bytes;

    assert_int_equal(output_flush(&out), 0);
    bytes = pread(out.fd, got, sizeof got - 1, 0);
    assert_true(bytes >= 0);
    got[bytes] = 0;
    assert_string_equal(got, wanted);
    close(out.fd);
}

static void test_names(void **state)
{
    const struct function hostile = {.name = "a;b \"c\x1b[31m\n"},
                          kernel = {.name = "f", .kernel = true}, file = {.object = "li b.so"},
                          nothing = {0};

    (void)state;
    begin();
    stack_text_function(&out, &hostile);
    output_char(&out, '|');
    stack_text_function(&out, &kernel);
    output_char(&out, '|');
    stack_text_function(&out, &file);
    output_char(&out, '|');
    stack_text_function(&out, &nothing);
    written_is("a:b_'c\\x1b[31m\\x0a|f_[k]|[li_b.so]|[unknown]");
}

static void open_all(struct functions *functions, struct symbols **symbols)
{
    static struct trace_info info;

    trace_info_init(&info);
    assert_int_equal(symbols_open(symbols, &info, NULL), 0);
    assert_int_equal(functions_init(functions, *symbols), 0);
}

static void test_stacks(void **state)
{
    struct functions functions;
    struct symbols *symbols;
    struct stacks stacks;
    uint32_t whole, cut, broken;

    (void)state;
    open_all(&functions, &symbols);
    assert_int_equal(stacks_init(&stacks), 0);
    whole =
        stacks_child(&stacks, stacks_child(&stacks, HR_STACK_WHOLE, 0x1000), 0xffffffff80000001);
    cut = stacks_child(&stacks, HR_STACK_CUT, 0x1000);
    broken = stacks_child(&stacks, HR_STACK_BROKEN, 0x1000);
    begin();
    stack_text_put(&out, &stacks, whole, &functions);
    output_char(&out, '|');
    stack_text_put(&out, &stacks, cut, &functions);
    output_char(&out, '|');
    stack_text_put(&out, &stacks, broken, &functions);
    output_char(&out, '|');
    stack_text_put(&out, &stacks, HR_STACK_NONE, &functions);
    output_char(&out, '|');
    stack_text_put(&out, &stacks, HR_STACK_WHOLE, &functions);
    written_is("[unknown];[unknown]_[k];|[truncated];[unknown];|[broken];[unknown];|[no_stack];|");
    stacks_free(&stacks);
    functions_free(&functions);
    symbols_close(symbols);
}

static void test_numbers(void **state)
{
    struct functions functions;
    struct symbols *symbols;

    (void)state;
    open_all(&functions, &symbols);
    assert_int_equal(functions_at(&functions, 0x1000), 1);
    assert_int_equal(functions_at(&functions, 0x2000), 2);
    assert_int_equal(functions_at(&functions, 0x1fff), 1);
    for (uint64_t i = 0; i < FUNCTIONS_MAX + 10; i++) /* the last ones find no room */
        functions_at(&functions, i << 12);
    assert_int_equal(functions.count, FUNCTIONS_MAX);
    assert_int_equal(functions_at(&functions, (uint64_t)FUNCTIONS_MAX << 12), 0);
    assert_int_equal(functions_at(&functions, 0x2010), 2);
    assert_null(functions.rows[0].name);
    functions_free(&functions);
    symbols_close(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
