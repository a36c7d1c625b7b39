/* Joins the results of two runs of a suite. */
#include "host/suite/suite_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/text.h"
#include "host/suite/suite_judge.h"
#include "host/suite/suite_spread.h"

static bool has_counts(const struct suite_outcome *o)
{
    return o != NULL && o->problem == NULL && o->event_count != 0;
}

struct diff_change suite_pair_change(const struct suite_pair *pair, size_t event)
{
    struct diff_change change = {.name = "", .object = ""};
    int other;

    if (has_counts(pair->after)) {
        change.in_after = true;
        change.after = pair->after->events[event].total;
    }
    if (!has_counts(pair->before))
        return change;
    other = pair->after == NULL
                ? (int)event
                : suite_outcome_event(pair->before, pair->after->events[event].name);
    change.in_before = other >= 0;
    change.before = other >= 0 ? pair->before->events[other].total : 0;
    return change;
}

static int by_size(const void *x, const void *y)
{
    const struct diff_change *a = x, *b = y;
    uint64_t left = diff_size(a), right = diff_size(b);

    if (left != right)
        return left > right ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int order_of(const struct suite_function *a, const struct suite_function *b)
{
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->object, b->object);
}

long suite_pair_functions(const struct suite_pair *pair, size_t event, struct diff_change **changes)
{
    const struct suite_outcome *before = pair->before, *after = pair->after;
    int other = before != NULL ? suite_outcome_event(before, after->events[event].name) : -1;
    size_t a = 0, b = 0, count = 0;

    *changes = NULL;
    if (other < 0)
        return 0;
    *changes = calloc(before->function_count + after->function_count + 1, sizeof(*changes)[0]);
    if (*changes == NULL)
        return -ENOMEM;
    while (a < before->function_count || b < after->function_count) {
        int order = a == before->function_count ? 1
                    : b == after->function_count
                        ? -1
                        : order_of(&before->functions[a], &after->functions[b]);
        const struct suite_function *old = order <= 0 ? &before->functions[a++] : NULL;
        const struct suite_function *new = order >= 0 ? &after->functions[b++] : NULL;

        (*changes)[count] = (struct diff_change){
            .name = old != NULL   ? old->name
                    : new != NULL ? new->name
                                  : "",
            .object = old != NULL   ? old->object
                      : new != NULL ? new->object
                                    : "",
            .before = old != NULL ? old->counts[other] : 0,
            .after = new != NULL ? new->counts[event] : 0,
            .in_before = old != NULL,
            .in_after = new != NULL,
        };
        count += (*changes)[count].before != (*changes)[count].after;
    }
    qsort(*changes, count, sizeof(*changes)[0], by_size);
    return (long)count;
}

static bool event_changed(const struct suite_pair *pair, size_t event)
{
    struct diff_change change = suite_pair_change(pair, event);
    struct trial_difference d;

    return suite_spread_of(pair, event, &d) ? trial_difference_is_certain(&d)
                                            : change.before != change.after;
}

/* Runs that counted other events are other measurements. */
static int check_events(const struct suite_outcome *a, const struct suite_outcome *b,
                        struct run_failure *failure)
{
    const struct suite_outcome *sides[] = {a, b};

    for (int i = 0; i < 2; i++)
        for (size_t e = 0; e < sides[i]->event_count; e++)
            if (suite_outcome_event(sides[!i], sides[i]->events[e].name) < 0)
                return run_fail_as(failure, HR_EXIT_USAGE,
                                   "%s: '%s' was counted %s alone: the base counted other events; "
                                   "make it again with this suite",
                                   a->name, sides[i]->events[e].name,
                                   i == 0 ? "in the base" : "now");
    return 0;
}

static bool same_program(const struct suite_outcome *a, const struct suite_outcome *b)
{
    const char *before = diff_facts_find(&a->facts, DIFF_FACTS_PROGRAM);
    const char *after = diff_facts_find(&b->facts, DIFF_FACTS_PROGRAM);

    return before != NULL && after != NULL && before[0] != 0 && strcmp(before, after) == 0;
}

static int fill_pair(struct suite_comparison *c, const char *name,
                     const struct suite_outcome *before, const struct suite_outcome *after,
                     struct run_failure *failure)
{
    struct suite_pair *pair = &c->pairs[c->pair_count++];

    pair->name = name;
    pair->before = before;
    pair->after = after;
    c->added += c->before != NULL && before == NULL;
    c->gone += after == NULL;
    if (after == NULL)
        return 0;
    c->unknown += !has_counts(after);
    if (has_counts(before) && has_counts(after)) {
        if (check_events(before, after, failure) != 0)
            return -1;
        for (size_t e = 0; e < after->event_count; e++)
            pair->changed |= event_changed(pair, e);
        c->changed += pair->changed;
        pair->same_program = after->exact && same_program(before, after);
        diff_facts_compare(&before->facts, &after->facts, pair->facts);
    }
    pair->verdicts = calloc(after->limits.count + 1, sizeof pair->verdicts[0]);
    if (pair->verdicts == NULL)
        return run_fail(failure, "out of memory; end other programs");
    for (size_t i = 0; i < after->limits.count && has_counts(after); i++) {
        suite_judge(pair, &after->limits.list[i], &pair->verdicts[i]);
        c->above += pair->verdicts[i].answer == SUITE_ABOVE;
        c->unknown += pair->verdicts[i].answer == SUITE_UNKNOWN;
    }
    return 0;
}

int suite_compare(struct suite_comparison *c, const struct suite_results *before,
                  const struct suite_results *after, struct run_failure *failure)
{
    size_t count = after->outcome_count + (before != NULL ? before->outcome_count : 0);
    int result = 0;

    *c = (struct suite_comparison){.before = before, .after = after};
    if (before != NULL && strcmp(before->architecture, after->architecture) != 0)
        return run_fail_as(failure, HR_EXIT_USAGE,
                           "the base is of %s and these results are of %s, so their counts cannot "
                           "be compared; make a base on %s",
                           before->architecture, after->architecture, after->architecture);
    c->pairs = calloc(count + 1, sizeof c->pairs[0]);
    if (c->pairs == NULL)
        return run_fail(failure, "out of memory; end other programs");
    for (size_t i = 0; i < after->outcome_count && result == 0; i++) {
        const struct suite_outcome *o = &after->outcomes[i];

        result = fill_pair(c, o->name, before != NULL ? suite_results_find(before, o->name) : NULL,
                           o, failure);
    }
    for (size_t i = 0; before != NULL && i < before->outcome_count && result == 0; i++)
        if (suite_results_find(after, before->outcomes[i].name) == NULL)
            result = fill_pair(c, before->outcomes[i].name, &before->outcomes[i], NULL, failure);
    return result;
}

void suite_comparison_free(struct suite_comparison *c)
{
    for (size_t i = 0; i < c->pair_count; i++)
        free(c->pairs[i].verdicts);
    free(c->pairs);
    *c = (struct suite_comparison){0};
}

int suite_comparison_status(const struct suite_comparison *c)
{
    return c->above != 0 ? HR_EXIT_FAILED : c->unknown != 0 ? HR_EXIT_USAGE : HR_EXIT_OK;
}
