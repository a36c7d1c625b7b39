/* Formats of hr suite, the table for a terminal, and what formats share. */
#include "host/suite/suite_print.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/diff/diff_print.h"
#include "host/suite/suite_spread.h"

#define FUNCTIONS_IN_TABLE 5
#define NAME_WIDTH 24

static const struct format {
    const char *name;
    suite_printer *print;
} formats[] = {
    {"table", suite_print_table},
    {"markdown", suite_print_markdown},
    {"json", suite_print_json},
    {"junit", suite_print_junit},
    {"tap", suite_print_tap},
    {"bencher", suite_print_bencher},
    {"github-benchmark", suite_print_github},
};

const char suite_print_formats[] = "table, markdown, json, junit, tap, bencher or github-benchmark";

suite_printer *suite_print_find(const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].print;
    return NULL;
}

bool suite_print_shows(const struct suite_outcome *o, size_t event)
{
    for (size_t i = 0; i < o->limits.count; i++)
        if (suite_outcome_event(o, o->limits.list[i].event) == (int)event)
            return true;
    return event == 0;
}

/* " (+1.10 %; 95 %: +0.50 % to +1.70 %, 10 and 10 runs)", or less of that. */
static char *detail(const struct suite_verdict *v, bool two, char text[SUITE_SENTENCE_BYTES])
{
    char relative[TEXT_QUANTITY_BYTES] = "";

    text[0] = 0;
    if (two)
        diff_relative_text(relative, &v->change);
    if (two || v->interval[0] != 0)
        snprintf(text, SUITE_SENTENCE_BYTES, " (%s%s%s)", relative,
                 two && v->interval[0] != 0 ? "; " : "", v->interval);
    return text;
}

char *suite_print_sentence(const struct suite_verdict *v, char text[SUITE_SENTENCE_BYTES])
{
    char before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES], more[SUITE_SENTENCE_BYTES];
    char event[100], function[200] = "", why[SUITE_WHY_BYTES];
    bool two = v->limit->kind != SUITE_MOST && v->answer != SUITE_NEW;

    text_escape(event, sizeof event, v->limit->event);
    if (v->limit->function != NULL)
        text_escape(function, sizeof function, v->limit->function);
    if (v->answer == SUITE_UNKNOWN)
        snprintf(text, SUITE_SENTENCE_BYTES, "%s%s%s: no answer: %s", event,
                 function[0] != 0 ? " in " : "", function, text_escape(why, sizeof why, v->why));
    else
        snprintf(text, SUITE_SENTENCE_BYTES, "%s%s%s: %s%s%s%.300s, %s %s", event,
                 function[0] != 0 ? " in " : "", function,
                 two ? text_count(before, v->change.before) : "", two ? " -> " : "",
                 text_count(after, v->change.after), detail(v, two, more),
                 v->answer == SUITE_ABOVE ? "above"
                 : v->answer == SUITE_NEW ? "new, later within"
                                          : "within",
                 text_escape(why, sizeof why, v->limit->text));
    return text;
}

static size_t without_counts(const struct suite_comparison *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->pair_count; i++)
        count += c->pairs[i].after != NULL && c->pairs[i].after->problem != NULL;
    return count;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

char *suite_print_summary(const struct suite_comparison *c, char text[SUITE_SENTENCE_BYTES])
{
    size_t failed = without_counts(c), unknown = c->unknown - failed, used = 0;

    text[0] = 0;
    if (c->above != 0)
        used += (size_t)snprintf(text, SUITE_SENTENCE_BYTES, "%zu limit%s exceeded", c->above,
                                 c->above == 1 ? " is" : "s are");
    if (unknown != 0)
        used +=
            (size_t)snprintf(text + used, SUITE_SENTENCE_BYTES - used, "%s%zu limit%s no answer",
                             used != 0 ? ", " : "", unknown, unknown == 1 ? " has" : "s have");
    if (failed != 0)
        used +=
            (size_t)snprintf(text + used, SUITE_SENTENCE_BYTES - used, "%s%zu benchmark%s failed",
                             used != 0 ? ", " : "", failed, plural(failed));
    if (used == 0 && c->before != NULL)
        used =
            (size_t)snprintf(text, SUITE_SENTENCE_BYTES, "%zu of %zu benchmark%s changed",
                             c->changed, c->after->outcome_count, plural(c->after->outcome_count));
    if (used == 0)
        snprintf(text, SUITE_SENTENCE_BYTES, "%zu benchmark%s ran", c->after->outcome_count,
                 plural(c->after->outcome_count));
    else if (c->above == 0 && c->unknown == 0)
        snprintf(text + used, SUITE_SENTENCE_BYTES - used, ", all within their limits");
    return text;
}

/* ---- the table */

/* `note` is what the change is worth; "": it is exact. */
static void print_row(const struct suite_print *p, const char *name, const char *event,
                      const struct diff_change *change, const char *note)
{
    char before[TEXT_QUANTITY_BYTES] = "", after[TEXT_QUANTITY_BYTES] = "";
    char size[TEXT_QUANTITY_BYTES + 1] = "", relative[TEXT_QUANTITY_BYTES] = "";

    if (change->in_after)
        text_count(after, change->after);
    if (p->comparison->before == NULL) {
        fprintf(p->out, "%-*s  %-16s %16s%s%s\n", NAME_WIDTH, name, event, after,
                note[0] != 0 ? "  " : "", note);
        return;
    }
    if (change->in_before)
        text_count(before, change->before);
    if (change->in_before && change->in_after)
        diff_change_text(size, change);
    fprintf(p->out, "%-*s  %-16s %16s %16s %14s %10s%s%s\n", NAME_WIDTH, name, event, before, after,
            size, diff_relative_text(relative, change), note[0] != 0 ? "  " : "", note);
}

static void print_functions(const struct suite_print *p, const struct suite_pair *pair)
{
    struct diff_change *changes;
    long count = suite_pair_functions(pair, 0, &changes);
    char name[200], row[NAME_WIDTH + 20];

    for (long i = 0; i < count && i < FUNCTIONS_IN_TABLE; i++) {
        text_escape(name, sizeof name, changes[i].name);
        snprintf(row, sizeof row, "    %.38s", name);
        print_row(p, row, "", &changes[i], "");
    }
    if (count > FUNCTIONS_IN_TABLE)
        fprintf(p->out, "    and %ld more function%s\n", count - FUNCTIONS_IN_TABLE,
                plural((size_t)count - FUNCTIONS_IN_TABLE));
    free(changes);
}

static void print_pair(const struct suite_print *p, const struct suite_pair *pair)
{
    char word[SUITE_WORD_BYTES], safe[100], problem[SUITE_WHY_BYTES], note[SUITE_SPREAD_BYTES];
    const struct suite_outcome *o = pair->after;

    if (o == NULL) {
        fprintf(p->out, "%-*s  in the base alone\n", NAME_WIDTH, pair->name);
        return;
    }
    if (o->problem != NULL) {
        fprintf(p->out, "%-*s  failed: %s\n", NAME_WIDTH, pair->name,
                text_escape(problem, sizeof problem, o->problem));
        return;
    }
    for (size_t e = 0; e < o->event_count; e++) {
        struct diff_change change = suite_pair_change(pair, e);

        if (suite_print_shows(o, e))
            print_row(p, e == 0 ? pair->name : "",
                      text_escape(safe, sizeof safe, suite_event_word(&o->events[e], word)),
                      &change, suite_spread_words(pair, e, note));
    }
    if (pair->changed)
        print_functions(p, pair);
    if (pair->changed && pair->same_program)
        fprintf(p->out, "    the program is the same file%s\n",
                pair->facts[0] != 0 ? "" : ": its input or a file that it reads may be another");
    if (pair->facts[0] != 0)
        fprintf(p->out, "    not the same: %s\n", pair->facts);
}

void suite_print_table(const struct suite_print *p)
{
    const struct suite_comparison *c = p->comparison;
    char text[SUITE_SENTENCE_BYTES];

    if (c->before != NULL)
        fprintf(p->out, "%-*s  %-16s %16s %16s %14s\n", NAME_WIDTH, "benchmark", "event", "before",
                "after", "change");
    else
        fprintf(p->out, "%-*s  %-16s %16s\n", NAME_WIDTH, "benchmark", "event", "count");
    for (size_t i = 0; i < c->pair_count; i++)
        print_pair(p, &c->pairs[i]);
    for (size_t i = 0; i < c->pair_count; i++)
        for (size_t v = 0; c->pairs[i].after != NULL && v < c->pairs[i].after->limits.count; v++)
            if (c->pairs[i].verdicts[v].limit != NULL &&
                (c->pairs[i].verdicts[v].answer == SUITE_ABOVE ||
                 c->pairs[i].verdicts[v].answer == SUITE_UNKNOWN))
                fprintf(p->out, "%s: %s\n", c->pairs[i].name,
                        suite_print_sentence(&c->pairs[i].verdicts[v], text));
    fprintf(p->out, "%s\n", suite_print_summary(c, text));
}
