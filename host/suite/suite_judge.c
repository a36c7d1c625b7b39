/* Finds what a limit is about, and whether it holds. */
#include "host/suite/suite_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/suite/suite_spread.h"

static void unknown(struct suite_verdict *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first reason stays. */
static void unknown(struct suite_verdict *v, const char *format, ...)
{
    va_list values;

    if (v->answer == SUITE_UNKNOWN)
        return;
    v->answer = SUITE_UNKNOWN;
    va_start(values, format);
    vsnprintf(v->why, sizeof v->why, format, values);
    va_end(values);
}

static void find_event(const struct suite_outcome *o, const char *name, struct suite_verdict *v)
{
    char list[256], safe[100], word[SUITE_WORD_BYTES];
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < o->event_count; i++)
        nearest_offer(&nearest, suite_event_word(&o->events[i], word));
    text_escape(safe, sizeof safe, name);
    if (nearest.count != 0)
        unknown(v, "'%s' was not counted; near: %s", safe,
                nearest_list(&nearest, list, sizeof list));
    else
        unknown(v, "'%s' was not counted", safe);
}

static bool is_measured(const struct suite_event *event, struct suite_verdict *v)
{
    char safe[100];

    if (strcmp(event->source, "stub") != 0 && strcmp(event->source, "none") != 0)
        return true;
    unknown(v, "%s was not measured (%s)", text_escape(safe, sizeof safe, event->name),
            strcmp(event->source, "stub") == 0 ? "stub" : "none");
    return false;
}

static void offer(struct function_choice *choice, const struct suite_outcome *o)
{
    for (size_t i = 0; o != NULL && i < o->function_count; i++)
        function_choice_offer(choice, o->functions[i].name, o->functions[i].object);
}

/* The counts of the functions chosen, in whichever objects. */
static uint64_t sum_of(const struct function_choice *choice, const struct suite_outcome *o,
                       size_t event, bool *found)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < o->function_count; i++) {
        const struct suite_function *f = &o->functions[i];

        if (!function_choice_has(choice, f->name, f->object))
            continue;
        sum += f->counts[event];
        *found = true;
    }
    return sum;
}

static void find_function(const struct suite_pair *pair, const struct suite_outcome *before,
                          const char *name, int events[2], struct suite_verdict *v)
{
    struct function_choice choice;
    char list[256], safe[100];

    function_choice_init(&choice, name);
    offer(&choice, before);
    offer(&choice, pair->after);
    text_escape(safe, sizeof safe, name);
    if (choice.count > 1)
        unknown(v, "'%s' names several functions, such as %s and %s; write more of its name", safe,
                choice.names[0], choice.names[1]);
    else if (choice.count == 0 && choice.nearest.count != 0)
        unknown(v, "there is no function '%s'; near: %s", safe,
                nearest_list(&choice.nearest, list, sizeof list));
    else if (choice.count == 0)
        unknown(v, "there is no function '%s'", safe);
    if (choice.count != 1)
        return;
    v->change.name = choice.names[0];
    v->change.after = sum_of(&choice, pair->after, (size_t)events[1], &v->change.in_after);
    if (before != NULL)
        v->change.before = sum_of(&choice, before, (size_t)events[0], &v->change.in_before);
}

/* The base's event; -1: there is no base, or it has no answer. */
static int find_base(const struct suite_pair *pair, const struct suite_event *event,
                     struct suite_verdict *v)
{
    const struct suite_outcome *before = pair->before;
    int found;

    if (before == NULL)
        return -1;
    if (before->problem != NULL || before->event_count == 0) {
        unknown(v, "the base has no counts of it: %s",
                before->problem != NULL ? before->problem : "nothing was counted");
        return -1;
    }
    found = suite_outcome_event(before, event->name);
    if (found >= 0 && strcmp(before->events[found].source, event->source) != 0) {
        unknown(v, "its counts come from different sources (%s, %s)", before->events[found].source,
                event->source);
        return -1;
    }
    return found;
}

/* Runs that vary are judged by their interval.  False: they are exact. */
static bool judge_spread(const struct suite_pair *pair, const struct suite_limit *limit,
                         size_t event, struct suite_verdict *v)
{
    struct trial_difference d;
    struct suite_pair of = *pair;

    if (limit->kind == SUITE_MOST)
        of.before = NULL;
    if (!suite_spread_of(&of, event, &d))
        return false;
    v->change = suite_pair_change(&of, event);
    suite_spread_judge(&d, limit, v);
    suite_spread_words(&of, event, v->interval);
    return true;
}

void suite_judge(const struct suite_pair *pair, const struct suite_limit *limit,
                 struct suite_verdict *v)
{
    int events[2] = {-1, suite_outcome_event(pair->after, limit->event)};
    bool needs_base = limit->kind != SUITE_MOST;

    *v = (struct suite_verdict){.limit = limit, .change = {.name = "", .object = ""}};
    if (events[1] < 0) {
        find_event(pair->after, limit->event, v);
        return;
    }
    if (!is_measured(&pair->after->events[events[1]], v))
        return;
    if (needs_base)
        events[0] = find_base(pair, &pair->after->events[events[1]], v);
    if (v->answer == SUITE_UNKNOWN)
        return;
    if (limit->function != NULL)
        find_function(pair, events[0] >= 0 ? pair->before : NULL, limit->function, events, v);
    else
        v->change = suite_pair_change(pair, (size_t)events[1]);
    if (v->answer == SUITE_UNKNOWN)
        return;
    if (needs_base && events[0] < 0)
        v->answer = SUITE_NEW;
    else if (limit->function == NULL && judge_spread(pair, limit, (size_t)events[1], v))
        return;
    else if (suite_limit_exceeded(limit, v->change.before, v->change.after))
        v->answer = SUITE_ABOVE;
}
