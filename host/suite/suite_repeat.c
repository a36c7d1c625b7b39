/* Joins the runs of a benchmark. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/suite/suite_compare.h"
#include "host/suite/suite_run.h"

#define PROBLEM_BYTES 400

static int set_problem(struct suite_outcome *o, const char *problem)
{
    o->problem = strdup(problem);
    return o->problem != NULL ? 0 : -ENOMEM;
}

static bool same_events(const struct suite_outcome *a, const struct suite_outcome *b)
{
    size_t i = 0;

    while (i < a->event_count && i < b->event_count &&
           strcmp(a->events[i].name, b->events[i].name) == 0 &&
           strcmp(a->events[i].source, b->events[i].source) == 0)
        i++;
    return i == a->event_count && i == b->event_count;
}

/* Appends where the runs differ most. */
static void add_function(const struct suite_outcome *o, const struct suite_outcome *one,
                         size_t event, char problem[PROBLEM_BYTES])
{
    const struct suite_pair pair = {.before = o, .after = one};
    struct diff_change *changes;
    long count = suite_pair_functions(&pair, event, &changes);
    size_t used = strlen(problem);

    if (count > 0)
        snprintf(problem + used, PROBLEM_BYTES - used, "; most of that is in %.100s",
                 changes[0].name);
    free(changes);
}

/* In virtual time runs are equal, unless the program asks for what is not. */
static int check_equal(struct suite_outcome *o, const struct suite_outcome *one, uint32_t number)
{
    char problem[PROBLEM_BYTES], first[TEXT_QUANTITY_BYTES], other[TEXT_QUANTITY_BYTES];
    char word[SUITE_WORD_BYTES];

    for (size_t i = 0; i < o->event_count; i++) {
        if (o->events[i].total == one->events[i].total)
            continue;
        snprintf(problem, sizeof problem,
                 "it is not deterministic: run 1 counted %s %s, and run %u %s",
                 text_count(first, o->events[i].total), suite_event_word(&o->events[i], word),
                 number, text_count(other, one->events[i].total));
        add_function(o, one, i, problem);
        return set_problem(o, problem);
    }
    if (trial_same_output(&o->output, &one->output))
        return 0;
    snprintf(problem, sizeof problem,
             "it is not deterministic: run %u wrote something else than run 1", number);
    return set_problem(o, problem);
}

static int join(struct suite_outcome *o, const struct suite_outcome *one, uint32_t number)
{
    if (one->problem != NULL)
        return set_problem(o, one->problem);
    if (!same_events(o, one) || o->exact != one->exact)
        return set_problem(o, "its runs counted different events");
    if (o->exact)
        return check_equal(o, one, number);
    for (size_t i = 0; i < o->event_count; i++)
        if (suite_event_add(&o->events[i], one->events[i].total) != 0)
            return -ENOMEM;
    return 0;
}

int suite_repeat_join(struct suite_outcome *o, uint32_t number, struct suite_outcome *one)
{
    if (number != 1)
        return o->problem == NULL ? join(o, one, number) : 0;
    one->name = o->name;
    one->limits = o->limits;
    *o = *one;
    *one = (struct suite_outcome){0};
    return 0;
}

int suite_repeat_add(struct suite_outcome *o, uint32_t number, const char *trace,
                     const struct trial_output *output)
{
    struct suite_outcome one = {.output = *output};
    int error = suite_measure(&one, trace);

    if (error == 0)
        error = suite_repeat_join(o, number, &one);
    suite_outcome_free(&one);
    return error;
}

uint32_t suite_repeat_count(const struct suite_selection *selection,
                            const struct suite_benchmark *b, const struct suite_outcome *first)
{
    if (first->problem != NULL)
        return 1;
    if (selection->repeat != 0)
        return (uint32_t)selection->repeat;
    return b->repeat != 0 ? b->repeat : first->exact ? 1 : SUITE_REPEAT_HARDWARE;
}
