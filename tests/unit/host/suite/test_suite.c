/* host/suite: files with errors, limits, results that are damaged, and what a comparison answers.
 */
#include "host/suite/suite_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/suite/suite_print.h"
#include "tests/unit/test.h"

#define BENCHMARK "[[benchmark]]\nname = \"a\"\ncommand = [\"p\"]\n"

static void is_refused(const char *text, const char *wanted)
{
    struct run_failure failure = {0};
    struct suite suite = {0};

    assert_int_equal(suite_parse(&suite, "f", text, strlen(text), &failure), -1);
    assert_string_equal(failure.text, wanted);
    assert_int_equal(failure.exit_status, 2);
    suite_free(&suite);
}

static void errors(void **)
{
    is_refused("", "f:1: there is no [[benchmark]]");
    is_refused("nam = 'x'\n" BENCHMARK, "f:1: there is no key 'nam' in the file; near: name");
    is_refused(BENCHMARK "comand = 1",
               "f:4: there is no key 'comand' in [[benchmark]]; near: command");
    is_refused(
        "[default]\nname = 'x'\n" BENCHMARK,
        "f:2: there is no key 'name' in [default], but: stdin, files, directory, "
        "environment, events, mode, options, timeout, exit_status, repeat, warmup, tags, limits, "
        "functions");
    is_refused(BENCHMARK BENCHMARK, "f:4: there is a benchmark 'a' already");
    is_refused("[[benchmark]]\nname = 'a'", "f:1: a [[benchmark]] needs a command: [\"PROGRAM\", "
                                            "\"ARGUMENT\"]");
    is_refused("[[benchmark]]\nname = '../a'\ncommand = ['p']",
               "f:2: a name has at most 64 letters, digits and . _ -: it is also a file's");
    is_refused("[[benchmark]]\ncommand = 'p'",
               "f:2: command is a string; it must be an array: [\"PROGRAM\", \"ARGUMENT\"]");
    is_refused(BENCHMARK "limits = { loads = '1 percent' }",
               "f:4: '1 percent' is no limit; write \"0.5 %\", \"+10000\" or \"max 2000000\"");
    is_refused(BENCHMARK "limits = { loads = 5 }", "f:4: loads is an integer; it must be a limit: "
                                                   "\"0.5 %\", \"+10000\" or \"max 2000000\"");
    is_refused(BENCHMARK "mode = 'off'\nfunctions = { f = '1 %' }",
               "f:1: limits of functions need mode = \"exact\"");
    is_refused(BENCHMARK "options = ['--output=x']",
               "f:4: '--output=x': the suite itself names the trace; leave it out");
    is_refused(BENCHMARK "options = 'x'",
               "f:4: 'x' is no option of hr run; write \"--NAME=VALUE\"");
    is_refused(BENCHMARK "timeout = '5'", "f:4: timeout is no time; write \"30s\" or \"5m\"");
    is_refused(BENCHMARK "exit_status = 256", "f:4: exit_status must be a number from 0 to 255");
    is_refused(BENCHMARK "repeat = 0", "f:4: repeat must be a number from 1 to 1000");
    is_refused(BENCHMARK "warmup = '1'", "f:4: warmup must be a number from 0 to 1000");
    is_refused(BENCHMARK "environment = { 'A=B' = 'x' }",
               "f:4: no name of a variable of the environment");
}

/* What is given for all, and what a benchmark says in its place. */
static void defaults(void **)
{
    static const char text[] =
        "[default]\nenvironment = { A = '1' }\nrepeat = 5\nwarmup = 1\ntags = 'fast'\nstdin = 'd'\n"
        "limits = { instructions = '1 %', loads = '+5' }\n" BENCHMARK
        "[[benchmark]]\nname = 'b'\ncommand = ['p', 'q']\nenvironment = { B = '2' }\n"
        "tags = ['x', 'y']\nrepeat = 3\nevents = ['cycles', 'loads']\nmode = 'off'\nfiles = "
        "'data'\n"
        "options = ['--cpus=1']\nlimits = { instructions = ['2 %', 'max 9'] }\n";
    static const char *const options[] = {"--mode=off", "--timeout=10m", "--event=cycles,loads",
                                          "--env=A=1",  "--env=B=2",     "--file=data",
                                          "--cpus=1"};
    struct run_failure failure = {0};
    struct suite suite = {0};
    const struct suite_benchmark *b;

    assert_int_equal(suite_parse(&suite, "f", text, sizeof text - 1, &failure), 0);
    assert_int_equal(suite.benchmark_count, 2);
    b = &suite.benchmarks[0];
    assert_int_equal(b->options.count, 3);
    assert_string_equal(b->options.list[0], "--mode=exact");
    assert_string_equal(b->input, "d");
    assert_true(suite_texts_have(&b->tags, "fast"));
    assert_int_equal(b->repeat, 5);
    b = &suite.benchmarks[1];
    assert_int_equal(b->repeat, 3);
    assert_int_equal(b->warm_up, 1);
    assert_int_equal(b->options.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(b->options.list[i], options[i]);
    assert_false(suite_texts_have(&b->tags, "fast"));
    assert_int_equal(b->limits.count, 3);
    assert_string_equal(b->limits.list[0].text, "+5");
    assert_int_equal(b->limits.list[2].kind, SUITE_MOST);
    suite_free(&suite);
}

static void limits(void **)
{
    static const struct {
        const char *text;
        uint64_t before, after;
        bool exceeded;
    } cases[] = {{"0.5 %", 1000, 1005, false}, {"0.5%", 1000, 1006, true}, {"1 %", 1000, 1, false},
                 {"0 %", 0, 1, true},          {"+10", 5, 15, false},      {"+10", 5, 16, true},
                 {"+1 %", 100, 102, true},     {"max 7", 100, 7, false},   {"max 7", 0, 8, true}};
    static const char *const none[] = {"",        "5", "%",   "-1 %",   "1 %%",
                                       "max 1 %", "+", "max", "1e999 %"};
    struct suite_limits all = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(suite_limits_add(&all, "e", NULL, cases[i].text), 0);
        assert_int_equal(suite_limit_exceeded(&all.list[i], cases[i].before, cases[i].after),
                         cases[i].exceeded);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(suite_limits_add(&all, "e", NULL, none[i]), -EINVAL);
    suite_limits_remove(&all, "e", NULL);
    assert_int_equal(all.count, 0);
    suite_limits_free(&all);
}

#define RESULTS(arch, problem, limits, source, total, functions)                             \
    "{\"format\":\"microtome-suite\",\"version\":1,\"suite\":\"s\",\"architecture\":\"" arch \
    "\",\"benchmarks\":[{\"name\":\"b\"," problem "\"limits\":[" limits                      \
    "],\"facts\":[[\"program\",\"1f\"],[\"libc.so.6\",\"" total "\"]],"                      \
    "\"events\":[{\"name\":\"instructions\",\"source\":\"" source "\",\"total\":" total      \
    "}],\"functions\":[" functions "]}]}"
#define FUNCTION(name, count) "{\"name\":\"" name "\",\"object\":\"\",\"counts\":[" count "]}"

static void read(struct suite_results *results, const char *text)
{
    struct run_failure failure = {0};
    char *again;

    memset(results, 0, sizeof *results);
    if (suite_results_parse(results, "r", text, strlen(text), &failure) != 0)
        fail_msg("%s", failure.text);
    /* What is written is read as the same. */
    again = suite_results_text(results);
    suite_results_free(results);
    assert_int_equal(suite_results_parse(results, "r", again, strlen(again), &failure), 0);
    free(again);
}

static void damaged(void **)
{
    static const char *const cases[][2] = {
        {"{", "r:1: string or '}' expected near end of file; make it again by hr suite run"},
        {"{}", "'r' holds no results of hr suite run"},
        {"{\"format\":\"microtome-suite\",\"version\":2}",
         "'r': results of version 2, where this hr reads version 1; make them again by hr suite "
         "run"},
        {"{\"format\":\"microtome-suite\",\"version\":1}",
         "'r' is damaged; make it again by hr suite run"},
        {RESULTS("x", "", "", "icount", "-1", ""), "'r' is damaged; make it again by hr suite run"},
        {RESULTS("x", "", "", "icount", "1", FUNCTION("b", "1,2")),
         "'r' is damaged; make it again by hr suite run"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_failure failure = {0};
        struct suite_results results = {0};

        assert_int_equal(
            suite_results_parse(&results, "r", cases[i][0], strlen(cases[i][0]), &failure), -1);
        assert_string_equal(failure.text, cases[i][1]);
        suite_results_free(&results);
    }
}

/* Compares two texts of results and looks at the only limit. */
static void judged(const char *before, const char *after, int status, enum suite_answer answer,
                   const char *sentence)
{
    struct suite_results a = {0}, b;
    struct suite_comparison c;
    struct run_failure failure = {0};
    char text[SUITE_SENTENCE_BYTES];

    if (before != NULL)
        read(&a, before);
    read(&b, after);
    assert_int_equal(suite_compare(&c, before != NULL ? &a : NULL, &b, &failure), 0);
    assert_int_equal(suite_comparison_status(&c), status);
    assert_int_equal(c.pairs[0].verdicts[0].answer, answer);
    assert_string_equal(suite_print_sentence(&c.pairs[0].verdicts[0], text), sentence);
    suite_comparison_free(&c);
    suite_results_free(&a);
    suite_results_free(&b);
}

#define ONE_PERCENT "{\"event\":\"instructions\",\"limit\":\"1 %\"}"
#define OF_FUNCTION(name) "{\"event\":\"instructions\",\"limit\":\"1 %\",\"function\":\"" name "\"}"

static void answers(void **)
{
    const char *base = RESULTS("x", "", "", "icount", "1000", FUNCTION("ns::parse(int)", "100"));

    judged(base, RESULTS("x", "", ONE_PERCENT, "icount", "1010", ""), 0, SUITE_WITHIN,
           "instructions: 1,000 -> 1,010 (+1.00 %), within 1 %");
    judged(base, RESULTS("x", "", ONE_PERCENT, "icount", "1011", ""), 1, SUITE_ABOVE,
           "instructions: 1,000 -> 1,011 (+1.10 %), above 1 %");
    judged(NULL, RESULTS("x", "", ONE_PERCENT, "icount", "5", ""), 0, SUITE_NEW,
           "instructions: 5, new, later within 1 %");
    judged(base, RESULTS("x", "", ONE_PERCENT, "pmu", "1000", ""), 2, SUITE_UNKNOWN,
           "instructions: no answer: its counts come from different sources (icount, pmu)");
    judged(base, RESULTS("x", "", ONE_PERCENT, "stub", "1000", ""), 2, SUITE_UNKNOWN,
           "instructions: no answer: instructions was not measured (stub)");
    judged(base,
           RESULTS("x", "", "{\"event\":\"instrutions\",\"limit\":\"1 %\"}", "icount", "1", ""), 2,
           SUITE_UNKNOWN,
           "instrutions: no answer: 'instrutions' was not counted; near: instructions");
    judged(RESULTS("x", "\"problem\":\"crashed\",", "", "icount", "1", ""),
           RESULTS("x", "", ONE_PERCENT, "icount", "1", ""), 2, SUITE_UNKNOWN,
           "instructions: no answer: the base has no counts of it: crashed");
    judged(
        base,
        RESULTS("x", "", OF_FUNCTION("parse"), "icount", "1000", FUNCTION("ns::parse(int)", "102")),
        1, SUITE_ABOVE, "instructions in parse: 100 -> 102 (+2.00 %), above 1 %");
    judged(base, RESULTS("x", "", OF_FUNCTION("parse"), "icount", "1000", ""), 0, SUITE_WITHIN,
           "instructions in parse: 100 -> 0 (gone), within 1 %");
    judged(base, RESULTS("x", "", OF_FUNCTION("pars"), "icount", "1000", ""), 2, SUITE_UNKNOWN,
           "instructions in pars: no answer: there is no function 'pars'; near: ns::parse(int)");
}

/* Results of runs that vary. */
#define VARIES(limits, values)                                                              \
    "{\"format\":\"microtome-suite\",\"version\":1,\"suite\":\"s\",\"architecture\":\"x\"," \
    "\"benchmarks\":[{\"name\":\"b\",\"exact\":false,\"limits\":[" limits                   \
    "],\"facts\":[],\"events\":[{\"name\":\"instructions\",\"source\":\"pmu\",\"total\":1," \
    "\"values\":[" values "]}],\"functions\":[]}]}"
#define MOST "{\"event\":\"instructions\",\"limit\":\"max 1010\"}"

static void varying(void **)
{
    const char *base = VARIES("", "1000,1001,999,1000,1000");

    judged(base, VARIES(ONE_PERCENT, "1002,1001,999,1000,1000"), 0, SUITE_WITHIN,
           "instructions: 1,000 -> 1,000 (0 %; 95 %: -0.09621 % to +0.20 %, 5 and 5 runs), within "
           "1 %");
    judged(base, VARIES(ONE_PERCENT, "1022,1021,1019,1020,1020"), 1, SUITE_ABOVE,
           "instructions: 1,000 -> 1,020 (+2.00 %; 95 %: +1.90 % to +2.20 %, 5 and 5 runs), above "
           "1 %");
    judged(base, VARIES(ONE_PERCENT, "1080,1000,1020,1040,960"), 2, SUITE_UNKNOWN,
           "instructions: no answer: not enough runs to tell: it changed by -3.70 % to "
           "+7.67 % (95 %), and these runs show changes of 7.4 % or more; --repeat 158 may do");
    judged(base, VARIES(ONE_PERCENT, "1000"), 2, SUITE_UNKNOWN,
           "instructions: no answer: not enough runs to tell: one run says nothing about chance; "
           "add --repeat 10");
    judged(VARIES("", "1000"), VARIES(ONE_PERCENT, "1000,1001,999"), 2, SUITE_UNKNOWN,
           "instructions: no answer: not enough runs to tell: one run says nothing about chance; "
           "add --repeat 10, and make the base again");
    /* A limit of the count itself needs no base, and does not look at one. */
    judged(base, VARIES(MOST, "1000,1001,999,1000"), 0, SUITE_WITHIN,
           "instructions: 1,000 (95 %: 998 to 1,001, 4 runs), within max 1010");
    judged(NULL, VARIES(MOST, "1040,1041,1039,1040"), 1, SUITE_ABOVE,
           "instructions: 1,040 (95 %: 1,038 to 1,041, 4 runs), above max 1010");
    judged(NULL, VARIES(MOST, "1040,980,1000,1010"), 2, SUITE_UNKNOWN,
           "instructions: no answer: not enough runs to tell: its mean is 967 to 1,047 "
           "(95 %); --repeat 786 may do");
    judged(NULL, VARIES(ONE_PERCENT, "1040,980"), 0, SUITE_NEW,
           "instructions: 1,010, new, later within 1 %");
}

/* Whether it changed: by more than chance. */
static void changed(void **)
{
    static const char *const after[] = {"1000,1009,995,1003", "1100,1109,1095,1103"};

    for (size_t i = 0; i < 2; i++) {
        struct suite_results a, b;
        struct suite_comparison c;
        struct run_failure failure = {0};
        char text[600];

        snprintf(text, sizeof text, VARIES("", "%s"), after[i]);
        read(&a, VARIES("", "1000,1001,999,1000,1000"));
        read(&b, text);
        assert_int_equal(suite_compare(&c, &a, &b, &failure), 0);
        assert_int_equal(c.changed, i);
        suite_comparison_free(&c);
        suite_results_free(&a);
        suite_results_free(&b);
    }
}

static void refused(void **)
{
    struct suite_results a, b;
    struct suite_comparison c;
    struct run_failure failure = {0};

    read(&a, RESULTS("arm64", "", "", "icount", "1", ""));
    read(&b, RESULTS("x86-64", "", "", "icount", "1", ""));
    assert_int_equal(suite_compare(&c, &a, &b, &failure), -1);
    assert_string_equal(failure.text, "the base is of arm64 and these results are of x86-64, so "
                                      "their counts cannot be compared; make a base on x86-64");
    suite_comparison_free(&c);
    strcpy(a.architecture, "x");
    free(a.outcomes[0].events[0].name);
    a.outcomes[0].events[0].name = strdup("cycles");
    strcpy(b.architecture, "x");
    failure = (struct run_failure){0};
    assert_int_equal(suite_compare(&c, &a, &b, &failure), -1);
    assert_string_equal(failure.text, "b: 'cycles' was counted in the base alone: the base counted "
                                      "other events; make it again with this suite");
    suite_comparison_free(&c);
    suite_results_free(&a);
    suite_results_free(&b);
}

/* No name can be anything but code in a comment. */
static void markdown(void **)
{
    struct suite_results a, b;
    struct suite_comparison c;
    struct run_failure failure = {0};
    char *text = NULL;
    size_t bytes;
    struct suite_print print = {.comparison = &c, .link = "https://h/{}.html"};

    read(&a, RESULTS("x", "", "", "icount", "1000", FUNCTION("f", "1")));
    read(&b, RESULTS("x", "", "", "icount", "2000", FUNCTION("`x` | @me\\n![](u)", "1")));
    assert_int_equal(suite_compare(&c, &a, &b, &failure), 0);
    print.out = open_memstream(&text, &bytes);
    suite_print_markdown(&print);
    assert_int_equal(fclose(print.out), 0);
    assert_non_null(strstr(text, "| `'x' \\| @me\\x0a![](u)` |  | 1 |  | new |\n"));
    assert_non_null(strstr(text, "| [`b`](https://h/b.html) | `instructions` | 1,000 | 2,000 | "
                                 "+1,000 | +100.00 % |  |\n"));
    assert_non_null(strstr(text, "\nNot the same, and may have changed the counts: `libc.so.6 "
                                 "(1000, 2000)`\n"));
    assert_non_null(strstr(text, "Both sides ran the same program file"));
    free(text);
    suite_comparison_free(&c);
    suite_results_free(&a);
    suite_results_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),   cmocka_unit_test(defaults), cmocka_unit_test(limits),
        cmocka_unit_test(damaged),  cmocka_unit_test(answers),  cmocka_unit_test(refused),
        cmocka_unit_test(markdown), cmocka_unit_test(varying),  cmocka_unit_test(changed),
    };

    return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}
