/* Tests of host/draw/columns.c: tables fit every terminal, numbers are never cut. */
#include "host/draw/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/pager.h"
#include "tests/unit/test.h"

static char *print(unsigned int terminal, const char *name)
{
    struct columns c = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    columns_add(&c, "share", 7, true, 0);
    columns_add(&c, "samples", 15, true, 2);
    columns_add(&c, "symbol", 32, false, 0);
    columns_add(&c, "object", 20, false, 1);
    columns_fit(&c, terminal);
    snprintf(c.cells[0], COLUMNS_CELL_BYTES, "12.34%%");
    snprintf(c.cells[1], COLUMNS_CELL_BYTES, "1,234,567");
    snprintf(c.cells[2], COLUMNS_CELL_BYTES, "%s", name);
    snprintf(c.cells[3], COLUMNS_CELL_BYTES, "program");
    columns_print(out, &c);
    fclose(out);
    return text;
}

static void printed(unsigned int terminal, const char *name, const char *wanted)
{
    char *text = print(terminal, name);

    assert_string_equal(text, wanted);
    free(text);
}

static void tables_fit(void **state)
{
    (void)state;
    printed(PAGER_NO_TERMINAL, "a_name_that_is_longer_than_its_column_of_32",
            " 12.34%        1,234,567  a_name_that_is_longer_than_its_column_of_32  program\n");
    printed(100, "main", " 12.34%        1,234,567  main                              program\n");
    printed(60, "a_name_that_is_longer_than_its_column_of_32",
            " 12.34%        1,234,567  a_name_that_i...  program\n");
    printed(40, "a_name_that_is_longer_than_its_column_of_32",
            " 12.34%  a_name_that_is_longer_than_i...\n");
    printed(24, "a_name_that_is_longer_than_its_column_of_32", " 12.34%  a_name_that_...\n");
    for (unsigned int terminal = 20; terminal < 120; terminal++) {
        char *text = print(terminal, "a_name_that_is_longer_than_its_column_of_32");

        assert_true(columns_width(text) <= terminal + 1); /* and the line's end */
        assert_non_null(strstr(text, " 12.34%  "));
        free(text);
    }
}

static void texts_are_cut_between_characters(void **state)
{
    char text[64];

    (void)state;
    strcpy(text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc");
    assert_int_equal(columns_width(text), 6);
    columns_cut(text, 6);
    assert_int_equal(strlen(text), 12);
    columns_cut(text, 5);
    assert_string_equal(text, "\xc3\xa4\xc3\xb6...");
    columns_cut(text, 3);
    assert_string_equal(text, "...");
    columns_cut(text, 1);
    assert_string_equal(text, "");
}

static void notes_are_wrapped(void **state)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(out);
    columns_note(out, 20, "one two three four %s", "five");
    columns_note(out, PAGER_NO_TERMINAL, "one two three four %s", "five");
    fclose(out);
    assert_string_equal(text, "# one two three four\n# five\n# one two three four five\n");
    free(text);
}

static void check_function(const char *name, unsigned int width, const char *expected)
{
    char text[200];

    snprintf(text, sizeof text, "%s", name);
    columns_cut_function(text, width);
    assert_string_equal(text, expected);
}

static void names_of_functions_lose_parameters_first(void **state)
{
    (void)state;
    check_function("ns::f(int, char const*)", 40, "ns::f(int, char const*)");
    check_function("ns::f(int, char const*)", 20, "ns::f(...)");
    check_function("  ns::f(int, char const*) const (inlined)", 32, "  ns::f(...) const (inlined)");
    check_function("[kernel] f(int, char const*)", 20, "[kernel] f(...)");
    check_function("std::vector<int, A<int> >::push_back(int const&)", 42,
                   "std::vector<int, A<int> >::push_back(...)");
    check_function("std::vector<int, A<int> >::push_back(int const&)", 32,
                   "std::vector<...>::push_back(...)");
    check_function("std::vector<int, A<int> >::push_back(int const&)", 20, "std::vector<...>:...");
    check_function("std::operator<< <char>(std::ostream&, char)", 40,
                   "std::operator<< <char>(...)");
    check_function("main (inlined)", 12, "main (inl...");
    check_function("[0x401000-0x402000)", 12, "[0x401000...");
    check_function("f(std::pair<int, char> (*)(int...", 12, "f(...)");
    check_function("<<<<<<<<<<<<<<<<<<<<", 12, "<...>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_fit),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(notes_are_wrapped),
        cmocka_unit_test(names_of_functions_lose_parameters_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
