/* host/suite/toml.h: what is read, and what is refused, with its line. */
#include "host/suite/toml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static struct toml *parse(const char *text)
{
    struct run_failure failure = {0};
    struct toml *root = toml_parse(text, strlen(text), "f", &failure);

    if (root == NULL)
        print_error("%s\n", failure.text);
    assert_non_null(root);
    return root;
}

/* The value that a text has for the key "a". */
static struct toml *value(const char *text, struct toml **root)
{
    struct toml *found;

    *root = parse(text);
    found = (struct toml *)toml_find(*root, "a");
    assert_non_null(found);
    return found;
}

static void strings(void **)
{
    static const char *const cases[][2] = {
        {"a = \"x\"", "x"},
        {"a = ''", ""},
        {"a='C:\\n'", "C:\\n"},
        {"a = \"\\\"\\\\\\t\\u00e9\\U0001F600\"", "\"\\\t\u00e9\U0001F600"},
        {"a = \"\"\"\none\ntwo \\\n   three\"\"\"", "one\ntwo three"},
        {"a = \"\"\"q\"\"\"\"\"", "q\"\""},
        {"a = '''\r\nx\r\ny'''", "x\ny"},
        {"'a' = \"x\" # more", "x"},
        {"\"a\" = \"\u00fc\"", "\u00fc"},
    };
    struct toml *root;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(value(cases[i][0], &root)->text, cases[i][1]);
        toml_free(root);
    }
}

static void numbers(void **)
{
    static const struct {
        const char *text;
        int64_t integer;
    } integers[] = {{"a = 0", 0},
                    {"a = +1_000", 1000},
                    {"a = -9223372036854775808", INT64_MIN},
                    {"a = 0xDead_beef", 0xdeadbeef},
                    {"a = 0o17", 15},
                    {"a = 0b101", 5}};
    static const struct {
        const char *text;
        double real;
    } reals[] = {
        {"a = 0.5", 0.5}, {"a = -1e3", -1000}, {"a = 6.5_5E-1", 0.655}, {"a = inf", INFINITY}};
    struct toml *root, *found;

    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        found = value(integers[i].text, &root);
        assert_int_equal(found->kind, TOML_INTEGER);
        assert_true(found->integer == integers[i].integer);
        toml_free(root);
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        found = value(reals[i].text, &root);
        assert_int_equal(found->kind, TOML_FLOAT);
        assert_true(found->real == reals[i].real);
        toml_free(root);
    }
    assert_true(value("a = true", &root)->boolean);
    toml_free(root);
}

static void tables(void **)
{
    struct toml *root = parse("top = 1\n[one]\nx.y = 1\nx.z = [1, 'b', {c = 3}, # d\n]\n"
                              "[[many]]\nn = 1\n[many.in]\nq = 1\n[[many]]\nn = 2\n[one.more]\n");
    const struct toml *one = toml_find(root, "one"), *many = toml_find(root, "many"), *z;

    assert_int_equal(root->count, 3);
    assert_int_equal(one->line, 2);
    z = toml_find(toml_find(one, "x"), "z");
    assert_int_equal(z->count, 3);
    assert_string_equal(z->items[1]->text, "b");
    assert_int_equal(toml_find(z->items[2], "c")->integer, 3);
    assert_non_null(toml_find(one, "more"));
    assert_int_equal(many->count, 2);
    assert_non_null(toml_find(many->items[0], "in"));
    assert_null(toml_find(many->items[1], "in"));
    assert_int_equal(toml_find(many->items[1], "n")->line, 11);
    toml_free(root);
}

static void refused(void **)
{
    static const char *const cases[][2] = {
        {"a = 1\na = 2", "f:2: a is there already, in line 1"},
        {"[a]\n[b]\n[a]", "f:3: a is there already, in line 1"},
        {"a = {b = 1}\n[a.c]", "f:2: a is there already, in line 1"},
        {"a = []\n[[a]]", "f:2: a is there already, in line 1"},
        {"[a]\nb.c = 1\n[a.b]", "f:3: b is there already, in line 2"},
        {"[a.b]\n[a]\nb.c = 1", "f:3: b is there already, in line 1"},
        {"a = 1 b = 2", "f:1: something follows a value on its line"},
        {"\na = \"x\ny\"", "f:2: a string does not end; close it by \""},
        {"a = \"\\q\"", "f:1: no such escape in a string; for a backslash write \\\\, or quote "
                        "the string by '"},
        {"a = \"\\ud800\"", "f:1: \\u needs 4 hexadecimal digits of a character"},
        {"a = \"\\u0000\"", "f:1: \\u needs 4 hexadecimal digits of a character"},
        {"a = 2024-01-01", "f:1: 2024-01-01 is no value that this file can have; put a text into "
                           "quotes"},
        {"a = yes", "f:1: yes is no value that this file can have; put a text into quotes"},
        {"a = 01", "f:1: 01 is no value that this file can have; put a text into quotes"},
        {"a = 1__0", "f:1: 1__0 is no value that this file can have; put a text into quotes"},
        {"a = 6.5_E1", "f:1: 6.5_E1 is no value that this file can have; put a text into quotes"},
        {"a = 0_b1", "f:1: 0_b1 is no value that this file can have; put a text into quotes"},
        {"a = .5", "f:1: .5 is no value that this file can have; put a text into quotes"},
        {"a = 9223372036854775808", NULL},
        {"a =", "f:1: a value is missing"},
        {"a", "f:1: a = is missing after a key"},
        {"= 1", "f:1: a key is missing: NAME = VALUE, or [NAME]"},
        {"[a", "f:1: ] is missing after the name of a table"},
        {"[[a]", "f:1: ]] is missing after the name of a table"},
        {"a = [1 2]", "f:1: a , or ] is missing"},
        {"a = {b = 1,}", "f:1: a key is missing: NAME = VALUE, or [NAME]"},
        {"a = {b = 1\n}", "f:1: a , or } is missing"},
        {"a = [,]", "f:1: a value is missing"},
        {"a = \"\x01\"", "f:1: a control character in a string; write it as an escape"},
        {"# \x01", "f:1: a control character in a comment"},
        {"a = \"\xc0\x80\"", "f: not text in UTF-8"},
        {"a = \"\xed\xa0\x80\"", "f: not text in UTF-8"},
        {"a = \"\xe2\x82\"", "f: not text in UTF-8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_failure failure = {0};

        assert_null(toml_parse(cases[i][0], strlen(cases[i][0]), "f", &failure));
        assert_int_equal(failure.exit_status, 2);
        if (cases[i][1] != NULL)
            assert_string_equal(failure.text, cases[i][1]);
    }
}

static void bounds(void **)
{
    struct run_failure failure = {0};
    char *text = malloc(TOML_BYTES_MAX + 1);
    size_t used = 4;

    assert_non_null(text);
    memset(text, '[', TOML_BYTES_MAX);
    memcpy(text, "a = ", 4);
    assert_null(toml_parse(text, TOML_BYTES_MAX, "f", &failure));
    assert_string_equal(failure.text, "f:1: more than 16 arrays and tables in each other");
    failure = (struct run_failure){0};
    assert_null(toml_parse(text, TOML_BYTES_MAX + 1, "f", &failure));
    text[used++] = '[';
    for (unsigned int i = 0; i <= TOML_ITEMS_MAX; i++, used += 2)
        memcpy(text + used, "1,", 2);
    failure = (struct run_failure){0};
    assert_null(toml_parse(text, used, "f", &failure));
    assert_string_equal(failure.text, "f:1: more than 4096 values in one table or array");
    failure = (struct run_failure){0};
    assert_null(toml_parse("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q = 1", 37, "f", &failure));
    assert_string_equal(failure.text, "f:1: a key has more than 16 parts");
    assert_null(toml_parse("a\0", 2, "f", &failure));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings), cmocka_unit_test(numbers), cmocka_unit_test(tables),
        cmocka_unit_test(refused), cmocka_unit_test(bounds),
    };

    return cmocka_run_group_tests_name("toml", tests, NULL, NULL);
}
