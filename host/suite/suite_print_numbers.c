/* Formats for programs: all that is known as JSON; numbers alone for Bencher, and for
 * github-action-benchmark. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "host/base/json.h"
#include "host/suite/suite_print.h"
#include "host/suite/suite_spread.h"

static const char *const answers[] = {[SUITE_WITHIN] = "within",
                                      [SUITE_ABOVE] = "above",
                                      [SUITE_NEW] = "new",
                                      [SUITE_UNKNOWN] = "unknown"};

static void dump(const struct suite_print *p, json_t *all)
{
    json_dumpf(all, p->out, JSON_INDENT(1));
    fputc('\n', p->out);
    json_decref(all);
}

/* Absent where a side lacks it. */
static void set_sides(json_t *object, const struct diff_change *change)
{
    if (change->in_before)
        json_object_set_new(object, "before", json_number(change->before));
    if (change->in_after)
        json_object_set_new(object, "after", json_number(change->after));
}

/* The interval of the change, and how many runs it is of; absent where runs are exact. */
static void set_spread(json_t *object, const struct suite_pair *pair, size_t event)
{
    struct trial_difference d;

    if (pair->after == NULL || pair->before == NULL || !suite_spread_of(pair, event, &d))
        return;
    json_object_set_new(object, "runs",
                        json_pack("[I,I]", (json_int_t)d.counts[0], (json_int_t)d.counts[1]));
    if (!isfinite(d.low))
        return;
    json_object_set_new(object, "change_low", json_real(d.low));
    json_object_set_new(object, "change_high", json_real(d.high));
    json_object_set_new(object, "least_change_seen", json_real(d.least));
}

static json_t *events_json(const struct suite_pair *pair)
{
    const struct suite_outcome *o = pair->after != NULL ? pair->after : pair->before;
    json_t *all = json_array();

    for (size_t e = 0; e < o->event_count; e++) {
        json_t *one = json_pack("{s:o}", "name", json_text(o->events[e].name));
        struct diff_change change = suite_pair_change(pair, e);

        set_sides(one, &change);
        set_spread(one, pair, e);
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *limits_json(const struct suite_pair *pair)
{
    json_t *all = json_array();

    for (size_t i = 0; pair->after != NULL && i < pair->after->limits.count; i++) {
        const struct suite_verdict *v = &pair->verdicts[i];
        json_t *one;

        if (v->limit == NULL)
            continue;
        one = json_pack("{s:o, s:o, s:s}", "event", json_text(v->limit->event), "limit",
                        json_text(v->limit->text), "answer", answers[v->answer]);
        if (v->limit->function != NULL)
            json_object_set_new(one, "function", json_text(v->limit->function));
        if (v->answer == SUITE_UNKNOWN)
            json_object_set_new(one, "why", json_text(v->why));
        else
            set_sides(one, &v->change);
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *functions_json(const struct suite_pair *pair)
{
    json_t *all = json_array();
    struct diff_change *changes = NULL;
    long count = pair->after != NULL && pair->changed ? suite_pair_functions(pair, 0, &changes) : 0;

    for (long i = 0; i < count; i++) {
        json_t *one = json_pack("{s:o, s:o}", "name", json_text(changes[i].name), "object",
                                json_text(changes[i].object));

        set_sides(one, &changes[i]);
        json_array_append_new(all, one);
    }
    free(changes);
    return all;
}

static json_t *pair_json(const struct suite_pair *pair)
{
    json_t *one = json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", json_text(pair->name),
                            "not_the_same", json_text(pair->facts), "events", events_json(pair),
                            "limits", limits_json(pair), "functions", functions_json(pair));

    if (pair->after != NULL && pair->after->problem != NULL)
        json_object_set_new(one, "problem", json_text(pair->after->problem));
    return one;
}

void suite_print_json(const struct suite_print *p)
{
    const struct suite_comparison *c = p->comparison;
    char text[SUITE_SENTENCE_BYTES];
    json_t *pairs = json_array();

    for (size_t i = 0; i < c->pair_count; i++)
        json_array_append_new(pairs, pair_json(&c->pairs[i]));
    dump(p, json_pack("{s:o, s:i, s:s, s:o}", "suite", json_text(c->after->suite), "status",
                      suite_comparison_status(c), "summary", suite_print_summary(c, text),
                      "benchmarks", pairs));
}

/* Bencher Metric Format: {"benchmark": {"measure": {"value": 1}}}. */
void suite_print_bencher(const struct suite_print *p)
{
    const struct suite_results *r = p->comparison->after;
    char word[SUITE_WORD_BYTES];
    json_t *all = json_object();

    for (size_t i = 0; i < r->outcome_count; i++) {
        const struct suite_outcome *o = &r->outcomes[i];
        json_t *measures = json_object();

        for (size_t e = 0; o->problem == NULL && e < o->event_count; e++)
            json_object_set_new(measures, suite_event_word(&o->events[e], word),
                                json_pack("{s:o}", "value", json_number(o->events[e].total)));
        if (json_object_size(measures) != 0)
            json_object_set(all, o->name, measures);
        json_decref(measures);
    }
    dump(p, all);
}

/* The tool "customSmallerIsBetter": [{"name": "benchmark: event", "unit": "event", "value": 1}]. */
void suite_print_github(const struct suite_print *p)
{
    const struct suite_results *r = p->comparison->after;
    char word[SUITE_WORD_BYTES], name[SUITE_WORD_BYTES + 80];
    json_t *all = json_array();

    for (size_t i = 0; i < r->outcome_count; i++) {
        const struct suite_outcome *o = &r->outcomes[i];

        for (size_t e = 0; o->problem == NULL && e < o->event_count; e++) {
            snprintf(name, sizeof name, "%.76s: %s", o->name,
                     suite_event_word(&o->events[e], word));
            json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "name", json_text(name), "unit",
                                                 json_text(word), "value",
                                                 json_number(o->events[e].total)));
        }
    }
    dump(p, all);
}
