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

static void name_is(const struct function *function, const char *wanted)
{
    struct functions functions = {.rows = (struct function *)function, .count = 1};
    struct stack_text text = {.functions = &functions};

    assert_string_equal(stack_text_name(&text, 0), wanted);
    stack_text_free(&text);
}

static void test_names(void **state)
{
    (void)state;
    name_is(&(struct function){.name = "a;b \"c\x1b[31m\n"}, "a:b_'c\\x1b[31m\\x0a");
    name_is(&(struct function){.name = "f", .kernel = true}, "f_[k]");
    name_is(&(struct function){.object = "li b.so"}, "[li_b.so]");
    name_is(&(struct function){0}, "[unknown]");
}

static void put_row(void *, struct output *to, const uint64_t *words, const char * /*bytes*/)
{
    stack_text_put_words(to, words, false);
    output_char(to, '|');
}

static void put(struct stack_text *text, const struct stacks *stacks, uint32_t node)
{
    uint64_t words[STACK_TEXT_WORDS_MAX];
    size_t bytes;
    uint32_t count = stack_text_words(text, stacks, node, words, &bytes);

    assert_true(count != 0);
    row_team_batch(text->team, count, 0, bytes + 1);
    memcpy(row_team_row(text->team, count), words, count * sizeof words[0]);
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
    static struct trace_scan scan;
    struct functions functions;
    struct stack_text text = {.functions = &functions};
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
    text.team = row_team_new(&out, &scan, put_row, NULL);
    assert_non_null(text.team);
    put(&text, &stacks, whole);
    put(&text, &stacks, cut);
    assert_in_range(text.bytes, 1, 1000);
    text.bytes = SIZE_MAX; /* too many: what has names is written first */
    put(&text, &stacks, broken);
    assert_in_range(text.bytes, 1, 1000);
    put(&text, &stacks, HR_STACK_NONE);
    put(&text, &stacks, HR_STACK_WHOLE);
    row_team_free(text.team);
    stack_text_free(&text);
    written_is("[unknown];[unknown]_[k];|[truncated];[unknown];|[broken];[unknown];|[no_stack];||");
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
