/* A limit as a test: TAP 13, and JUnit's XML. */
#include <string.h>

#include "host/base/text.h"
#include "host/base/xml.h"
#include "host/suite/suite_print.h"

struct test {
    const struct suite_pair *pair;
    const struct suite_verdict *verdict; /* NULL: that it ran */
    bool good;
    char text[SUITE_SENTENCE_BYTES]; /* escaped */
};

typedef void each_test(void *context, const struct test *test);

static void take_verdict(struct test *test, const struct suite_verdict *v)
{
    test->verdict = v;
    test->good = v->answer == SUITE_WITHIN || v->answer == SUITE_NEW;
    suite_print_sentence(v, test->text);
}

/* Each limit is a test, and that the program ran is one. */
static void each(const struct suite_comparison *c, each_test *visit, void *context)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct suite_pair *pair = &c->pairs[i];
        struct test test = {.pair = pair};

        if (pair->after == NULL)
            continue;
        test.good = pair->after->problem == NULL;
        if (test.good)
            snprintf(test.text, sizeof test.text, "it ran");
        else
            text_escape(test.text, sizeof test.text, pair->after->problem);
        visit(context, &test);
        for (size_t v = 0; v < pair->after->limits.count; v++)
            if (pair->verdicts[v].limit != NULL) {
                take_verdict(&test, &pair->verdicts[v]);
                visit(context, &test);
            }
    }
}

struct counts {
    FILE *out;
    size_t tests, failures;
};

static void count(void *context, const struct test *test)
{
    struct counts *counts = context;

    counts->tests++;
    counts->failures += !test->good;
}

static void print_tap(void *context, const struct test *test)
{
    struct counts *counts = context;
    char text[SUITE_SENTENCE_BYTES];

    snprintf(text, sizeof text, "%s", test->text);
    for (char *c = text; (c = strchr(c, '#')) != NULL;) /* begins a directive */
        *c = ' ';
    fprintf(counts->out, "%s %zu - %s: %s\n", test->good ? "ok" : "not ok", ++counts->tests,
            test->pair->name, text);
}

void suite_print_tap(const struct suite_print *p)
{
    struct counts counts = {p->out, 0, 0};

    fprintf(p->out, "TAP version 13\n");
    each(p->comparison, print_tap, &counts);
    fprintf(p->out, "1..%zu\n", counts.tests);
}

static void print_junit(void *context, const struct test *test)
{
    struct xml *x = context;
    char name[SUITE_SENTENCE_BYTES];

    snprintf(name, sizeof name, "%s%s%s%s%s",
             test->verdict != NULL ? test->verdict->limit->event : "it ran",
             test->verdict != NULL && test->verdict->limit->function != NULL ? " in " : "",
             test->verdict != NULL && test->verdict->limit->function != NULL
                 ? test->verdict->limit->function
                 : "",
             test->verdict != NULL ? " within " : "",
             test->verdict != NULL ? test->verdict->limit->text : "");
    xml_start(x, "testcase classname='%s' name='%s'", test->pair->name, name);
    if (!test->good)
        xml_empty(x, "failure message='%s'", test->text);
    else
        xml_element(x, "system-out", test->text);
    xml_end(x);
}

void suite_print_junit(const struct suite_print *p)
{
    struct counts counts = {0};
    struct xml x;

    each(p->comparison, count, &counts);
    fputs("<?xml version='1.0' encoding='UTF-8'?>\n", p->out);
    xml_init(&x, p->out);
    xml_start(&x, "testsuite name='%s' tests='%llu' failures='%llu' errors='0'",
              p->comparison->after->suite, (unsigned long long)counts.tests,
              (unsigned long long)counts.failures);
    each(p->comparison, print_junit, &x);
    xml_end(&x);
    fputc('\n', p->out);
}
