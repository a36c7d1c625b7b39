/* Results as JSON. */
#include <stdlib.h>
#include <string.h>

#include "host/base/json.h"
#include "host/suite/suite_result.h"

#define FORMAT "microtome-suite"
#define LIST_MAX 65536u /* items of one list */

/* ---- writing: jansson takes NULL for a failure, and passes it on */

static json_t *facts_json(const struct diff_facts *facts)
{
    json_t *all = json_array();

    for (size_t i = 0; i < facts->count; i++)
        json_array_append_new(all, json_pack("[o,o]", json_text(facts->list[i].label),
                                             json_text(facts->list[i].value)));
    return all;
}

static json_t *event_json(const struct suite_event *e)
{
    json_t *one = json_pack("{s:o, s:s, s:o}", "name", json_text(e->name), "source", e->source,
                            "total", json_number(e->total));
    json_t *values = json_array();

    for (size_t i = 0; i < e->value_count; i++)
        json_array_append_new(values, json_number(e->values[i]));
    if (e->value_count > 1)
        json_object_set(one, "values", values);
    json_decref(values);
    return one;
}

static json_t *events_json(const struct suite_outcome *o)
{
    json_t *all = json_array();

    for (size_t i = 0; i < o->event_count; i++)
        json_array_append_new(all, event_json(&o->events[i]));
    return all;
}

static json_t *functions_json(const struct suite_outcome *o)
{
    json_t *all = json_array();

    for (size_t i = 0; i < o->function_count; i++) {
        json_t *counts = json_array();

        for (size_t e = 0; e < o->event_count; e++)
            json_array_append_new(counts, json_number(o->functions[i].counts[e]));
        json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "name",
                                             json_text(o->functions[i].name), "object",
                                             json_text(o->functions[i].object), "counts", counts));
    }
    return all;
}

static json_t *limits_json(const struct suite_limits *limits)
{
    json_t *all = json_array();

    for (size_t i = 0; i < limits->count; i++) {
        const struct suite_limit *limit = &limits->list[i];
        json_t *one = json_pack("{s:o, s:o}", "event", json_text(limit->event), "limit",
                                json_text(limit->text));

        if (limit->function != NULL)
            json_object_set_new(one, "function", json_text(limit->function));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *outcome_json(const struct suite_outcome *o)
{
    json_t *one = json_pack("{s:o}", "name", json_text(o->name));

    if (o->problem != NULL)
        json_object_set_new(one, "problem", json_text(o->problem));
    json_object_set_new(one, "exact", json_boolean(o->exact));
    json_object_set_new(one, "limits", limits_json(&o->limits));
    json_object_set_new(one, "facts", facts_json(&o->facts));
    json_object_set_new(one, "events", events_json(o));
    json_object_set_new(one, "functions", functions_json(o));
    return one;
}

char *suite_results_text(const struct suite_results *results)
{
    json_t *outcomes = json_array();
    json_t *all =
        json_pack("{s:s, s:i, s:o, s:o, s:O}", "format", FORMAT, "version", SUITE_RESULTS_VERSION,
                  "suite", json_text(results->suite), "architecture",
                  json_text(results->architecture), "benchmarks", outcomes);
    char *text = NULL;

    for (size_t i = 0; i < results->outcome_count && all != NULL; i++)
        if (json_array_append_new(outcomes, outcome_json(&results->outcomes[i])) != 0) {
            json_decref(all);
            all = NULL;
        }
    json_decref(outcomes);
    if (all != NULL)
        text = json_dumps(all, JSON_INDENT(1));
    json_decref(all);
    return text;
}

/* ---- reading: false for what is not as it is written, or has no memory */

/* The list of a key; NULL: there is none, or it is too long. */
static json_t *list_of(json_t *object, const char *key)
{
    json_t *list = json_object_get(object, key);

    return json_is_array(list) && json_array_size(list) <= LIST_MAX ? list : NULL;
}

static bool take_text(json_t *value, char **text)
{
    const char *string = json_string_value(value);

    *text = string != NULL ? strdup(string) : NULL;
    return *text != NULL;
}

static bool take_count(json_t *value, uint64_t *count)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *count = (uint64_t)json_integer_value(value);
    return true;
}

static bool take_facts(json_t *list, struct diff_facts *facts)
{
    json_t *fact;
    size_t i;

    json_array_foreach(list, i, fact)
    {
        const char *label = json_string_value(json_array_get(fact, 0));
        const char *value = json_string_value(json_array_get(fact, 1));

        if (label == NULL || value == NULL || diff_facts_add(facts, label, value) != 0)
            return false;
    }
    return list != NULL;
}

/* The values of the runs; results of one run have none. */
static bool take_values(json_t *event, struct suite_event *e)
{
    json_t *list = json_object_get(event, "values");
    uint64_t value;

    if (list == NULL)
        return take_count(json_object_get(event, "total"), &value) &&
               suite_event_add(e, value) == 0;
    if (json_array_size(list) == 0 || json_array_size(list) > SUITE_REPEAT_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!take_count(json_array_get(list, i), &value) || suite_event_add(e, value) != 0)
            return false;
    return true;
}

static bool take_events(json_t *list, struct suite_outcome *o)
{
    size_t count = json_array_size(list);

    if (list == NULL || count > HR_EVENTS_MAX)
        return false;
    o->events = calloc(count + 1, sizeof o->events[0]);
    for (size_t i = 0; i < count && o->events != NULL; i++) {
        json_t *event = json_array_get(list, i);
        struct suite_event *e = &o->events[o->event_count++];

        if (!take_text(json_object_get(event, "name"), &e->name) ||
            !take_text(json_object_get(event, "source"), &e->source) || !take_values(event, e) ||
            e->value_count != o->events[0].value_count)
            return false;
    }
    return o->events != NULL;
}

static bool take_function(json_t *value, const struct suite_outcome *o, struct suite_function *f)
{
    json_t *counts = list_of(value, "counts");

    f->counts = calloc(o->event_count + 1, sizeof f->counts[0]);
    if (f->counts == NULL || json_array_size(counts) != o->event_count ||
        !take_text(json_object_get(value, "name"), &f->name) ||
        !take_text(json_object_get(value, "object"), &f->object))
        return false;
    for (size_t e = 0; e < o->event_count; e++)
        if (!take_count(json_array_get(counts, e), &f->counts[e]))
            return false;
    return true;
}

static int by_name(const void *x, const void *y)
{
    const struct suite_function *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->object, b->object);
}

/* Into their order, by which two lists are joined: names were escaped since they were sorted. */
static bool take_functions(json_t *list, struct suite_outcome *o)
{
    size_t count = json_array_size(list);

    if (list == NULL)
        return false;
    o->functions = calloc(count + 1, sizeof o->functions[0]);
    for (size_t i = 0; i < count && o->functions != NULL; i++)
        if (!take_function(json_array_get(list, i), o, &o->functions[o->function_count++]))
            return false;
    if (o->functions != NULL)
        qsort(o->functions, count, sizeof o->functions[0], by_name);
    return o->functions != NULL;
}

static bool take_limits(json_t *list, struct suite_limits *limits)
{
    json_t *limit;
    size_t i;

    json_array_foreach(list, i, limit)
    {
        const char *event = json_string_value(json_object_get(limit, "event"));
        const char *text = json_string_value(json_object_get(limit, "limit"));

        if (event == NULL || text == NULL || limits->count == SUITE_LIMITS_MAX ||
            suite_limits_add(limits, event, json_string_value(json_object_get(limit, "function")),
                             text) != 0)
            return false;
    }
    return list != NULL;
}

/* Older results do not say whether they are exact, but their source does. */
static bool is_exact(json_t *exact, const struct suite_outcome *o)
{
    return exact != NULL ? json_is_true(exact)
                         : o->event_count != 0 && strcmp(o->events[0].source, "icount") == 0;
}

static bool take_outcome(json_t *value, struct suite_results *results)
{
    struct suite_outcome *o = &results->outcomes[results->outcome_count++];
    json_t *problem = json_object_get(value, "problem");

    if (problem != NULL && !take_text(problem, &o->problem))
        return false;
    if (!take_text(json_object_get(value, "name"), &o->name) || !suite_is_name(o->name) ||
        suite_results_find(results, o->name) != o)
        return false;
    if (!take_facts(list_of(value, "facts"), &o->facts) ||
        !take_limits(list_of(value, "limits"), &o->limits) ||
        !take_events(list_of(value, "events"), o) ||
        !take_functions(list_of(value, "functions"), o))
        return false;
    o->exact = is_exact(json_object_get(value, "exact"), o);
    return true;
}

static bool take_all(json_t *root, struct suite_results *results)
{
    json_t *list = list_of(root, "benchmarks");
    size_t count = json_array_size(list);

    if (list == NULL || count > SUITE_BENCHMARKS_MAX ||
        !take_text(json_object_get(root, "suite"), &results->suite) ||
        !take_text(json_object_get(root, "architecture"), &results->architecture))
        return false;
    results->outcomes = calloc(count + 1, sizeof results->outcomes[0]);
    for (size_t i = 0; i < count && results->outcomes != NULL; i++)
        if (!take_outcome(json_array_get(list, i), results))
            return false;
    return results->outcomes != NULL;
}

int suite_results_parse(struct suite_results *results, const char *name, const char *text,
                        size_t bytes, struct run_failure *failure)
{
    json_error_t error;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    const char *format = json_string_value(json_object_get(root, "format"));
    json_int_t version = json_integer_value(json_object_get(root, "version"));
    int result = 0;

    if (root == NULL)
        result = run_fail_as(failure, 2, "%s:%d: %s; make it again by hr suite run", name,
                             error.line, error.text);
    else if (format == NULL || strcmp(format, FORMAT) != 0)
        result = run_fail_as(failure, 2, "'%s' holds no results of hr suite run", name);
    else if (version != SUITE_RESULTS_VERSION)
        result = run_fail_as(failure, 2,
                             "'%s': results of version %lld, where this hr reads version %d; make "
                             "them again by hr suite run",
                             name, (long long)version, SUITE_RESULTS_VERSION);
    else if (!take_all(root, results))
        result = run_fail_as(failure, 2, "'%s' is damaged; make it again by hr suite run", name);
    json_decref(root);
    return result;
}
