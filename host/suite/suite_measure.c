/* Reads what a benchmark counted from its trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/diff/diff_side.h"
#include "host/suite/suite_run.h"

#define TEXT_OF(number) #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)
#define TRACE_FORMAT VERSION(HR_VERSION_MAJOR, HR_VERSION_MINOR)

static int set_problem(struct suite_outcome *o, const char *problem)
{
    o->problem = strdup(problem);
    return o->problem != NULL ? 0 : -ENOMEM;
}

static int take_events(struct suite_outcome *o, const struct diff_side *side)
{
    const struct trace_info *info = &side->scan.info;
    char room[16];
    uint64_t total;

    o->events = calloc(info->event_count + 1, sizeof o->events[0]);
    if (o->events == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < info->event_count; i++) {
        struct suite_event *e = &o->events[o->event_count++];

        e->name = strdup(trace_info_event_name(info, i, room));
        e->source = strdup(trace_info_source(info->events[i].meta.source));
        total = diff_side_total(side, i);
        if (total > INT64_MAX) /* JSON has no larger integer: no machine counts so far */
            total = INT64_MAX;
        if (e->name == NULL || e->source == NULL || suite_event_add(e, total) != 0)
            return -ENOMEM;
    }
    o->exact = info->clock.method == HR_CLOCK_VIRTUAL;
    return 0;
}

static int take_functions(struct suite_outcome *o, const struct diff_side *side)
{
    o->functions = calloc((size_t)side->row_count + 1, sizeof o->functions[0]);
    if (o->functions == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < side->row_count && side->scan.info.has_exact; i++) {
        const struct diff_row *row = &side->rows[i];
        struct suite_function *f = &o->functions[o->function_count];

        if (row->counts.samples == 0)
            continue;
        o->function_count++;
        f->name = strdup(row->name);
        f->object = strdup(row->object);
        f->counts = calloc(o->event_count + 1, sizeof f->counts[0]);
        if (f->name == NULL || f->object == NULL || f->counts == NULL)
            return -ENOMEM;
        memcpy(f->counts, row->counts.sums, o->event_count * sizeof f->counts[0]);
    }
    return 0;
}

int suite_measure(struct suite_outcome *o, const char *trace)
{
    static struct diff_side side;
    struct selection all;
    char problem[200];
    int error;

    selection_init(&all);
    error = diff_side_read(&side, trace, &all, NULL, 0, DIFF_BY_FUNCTION, "");
    if (error == 0)
        error = diff_facts_gather(&o->facts, &side.scan.info);
    if (error == 0)
        error = diff_facts_add(&o->facts, "trace format", TRACE_FORMAT);
    if (error == 0)
        error = take_events(o, &side);
    if (error == 0)
        error = take_functions(o, &side);
    if (error == 0 && !trace_audit_complete(&side.scan.audit))
        error = set_problem(o, "its trace is incomplete");
    diff_side_free(&side);
    if (error == 0 || error == -ENOMEM)
        return error;
    snprintf(problem, sizeof problem, "its trace cannot be read: %s", strerror(-error));
    return set_problem(o, problem);
}
