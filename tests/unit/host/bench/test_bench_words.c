/* Commands as words, and parameters in them. */
#include "host/bench/bench_words.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "tests/unit/test.h"

static void split(const char *text, const char *wanted)
{
    struct run_failure failure = {0};
    char **words = NULL, joined[256] = "";
    size_t count = 0;

    assert_int_equal(bench_words_split(text, &words, &count, &failure), 0);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(joined, words[i]), "|");
    assert_string_equal(joined, wanted);
    array_free_texts(&words, &count);
}

static void words(void **)
{
    const char *const bad[] = {"", "  ", "a 'b", "a \"b", "a b'"};

    split("a b  c\t", "a|b|c|");
    split("'a b' \"c 'd'\" e\\ f", "a b|c 'd'|e f|");
    split("x'' '' a\"b\"c", "x||abc|");
    split("'a\\b' \"c\\\"d\"", "a\\b|c\"d|");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct run_failure failure = {0};
        char **list = NULL;
        size_t count = 0;

        assert_int_equal(bench_words_split(bad[i], &list, &count, &failure), -1);
        assert_true(failure.text[0] != 0);
        array_free_texts(&list, &count);
    }
}

/* What is joined is divided into the same words. */
static void joined(void **)
{
    char *list[] = {(char *)"a", (char *)"b c", (char *)"", (char *)"it's", (char *)"x\\y"};
    struct run_failure failure = {0};
    char *text = bench_words_join(list, 5);
    char **again = NULL;
    size_t count = 0;

    assert_string_equal(text, "a 'b c' '' 'it'\\''s' 'x\\y'");
    assert_int_equal(bench_words_split(text, &again, &count, &failure), 0);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(again[i], list[i]);
    array_free_texts(&again, &count);
    free(text);
}

static void filled(const struct bench_parameters *p, const char *text, size_t combination,
                   const char *wanted)
{
    char *got = bench_words_fill(text, p, combination);

    assert_string_equal(got, wanted);
    free(got);
}

static void parameters(void **)
{
    struct bench_parameters p = {0};
    struct run_failure failure = {0};

    assert_int_equal(bench_parameters_combinations(&p), 1);
    filled(&p, "{n} stays", 0, "{n} stays");
    assert_int_equal(bench_parameters_range(&p, "n=1..7..3", &failure), 0);
    assert_int_equal(bench_parameters_list(&p, "what=a,,b c", &failure), 0);
    assert_int_equal(bench_parameters_combinations(&p), 9);
    filled(&p, "x{n} {what} {m} {n", 0, "x1 a {m} {n");
    filled(&p, "{n}{what}{n}", 5, "4b c4");
    filled(&p, "{n}{what}", 7, "7");
    bench_parameters_free(&p);
    assert_int_equal(bench_parameters_range(&p, "s=0.5..1.5..0.25", &failure), 0);
    assert_int_equal(bench_parameters_combinations(&p), 5);
    filled(&p, "{s}", 4, "1.50");
    assert_int_equal(bench_parameters_range(&p, "t=-1..1", &failure), 0);
    filled(&p, "{t}", 0, "-1");
    bench_parameters_free(&p);
}

static void bad_parameters(void **)
{
    const char *const bad[] = {"",        "n",        "=1..2",        "n=",           "n=1",
                               "n=2..1",  "n=1..2..", "n=1..2..0",    "n=1..9..-1",   "n=a..b",
                               "n=1...2", "{n}=1..2", "n=1..2..3..4", "n=1..1000000", "n=--1..2"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bench_parameters p = {0};
        struct run_failure failure = {0};

        if (bench_parameters_range(&p, bad[i], &failure) != -1)
            fail_msg("%s is taken for a range", bad[i]);
        assert_true(failure.text[0] != 0);
        bench_parameters_free(&p);
    }
}

/* Combinations and texts are bounded. */
static void limits(void **)
{
    struct bench_parameters p = {0};
    struct run_failure failure = {0};
    char *text = malloc(BENCH_TEXT_MAX + 1);

    assert_int_equal(bench_parameters_range(&p, "n=1..1000", &failure), 0);
    assert_int_equal(bench_parameters_list(&p, "n=a", &failure), -1);
    assert_int_equal(bench_parameters_list(&p, "m=a,b", &failure), 0);
    assert_int_equal(bench_parameters_combinations(&p), 0);
    memset(text, 'x', BENCH_TEXT_MAX + 1);
    memcpy(text + BENCH_TEXT_MAX - 3, "{n}", 4);
    assert_null(bench_words_fill(text, &p, 1999));
    free(text);
    bench_parameters_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),          cmocka_unit_test(joined), cmocka_unit_test(parameters),
        cmocka_unit_test(bad_parameters), cmocka_unit_test(limits),
    };

    return cmocka_run_group_tests_name("bench_words", tests, NULL, NULL);
}
