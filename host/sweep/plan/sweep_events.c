/* The events that a sweep measures: by name, by pattern, or all that the CPU has. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/events/events_constraints.h"
#include "host/events/events_preset.h"
#include "host/events/events_spec.h"
#include "host/sweep/plan/sweep_plan.h"

struct choice {
    struct sweep_plan *plan;
    const char *pattern; /* NULL: all */
    size_t found;
    struct run_failure *failure;
};

/* Whether the plan counts this already, an off-core response with either of its registers. */
static bool is_there(const struct sweep_plan *plan, const char *name,
                     const struct events_encoding *e)
{
    uint64_t alternative =
        e->companion != 0 ? events_constraints_alternative(&plan->machine.cpu, e->select) : 0;

    for (size_t i = 0; i < plan->event_count; i++) {
        const struct events_encoding *other = &plan->events[i].encoding;

        if (e->select == 0 ? strcmp(plan->events[i].name, name) == 0
                           : other->companion == e->companion &&
                                 (other->select == e->select || other->select == alternative))
            return true;
    }
    return false;
}

static bool is_axis(const struct sweep_plan *plan, const struct events_encoding *e)
{
    struct events_encoding axis;
    struct run_failure unasked = {0};

    return events_resolve(&plan->machine.cpu, SWEEP_AXIS, &axis, &unasked) == 0 &&
           axis.select == e->select;
}

static int add(struct sweep_plan *plan, const char *name, const char *description,
               const struct events_encoding *e, struct run_failure *failure)
{
    struct sweep_event *event;

    if (is_there(plan, name, e) || is_axis(plan, e))
        return 0;
    if (array_grow(&plan->events, plan->event_count, sizeof plan->events[0]) != 0)
        return run_fail(failure, "out of memory; end other programs");
    event = &plan->events[plan->event_count++];
    *event = (struct sweep_event){strdup(name), strdup(description != NULL ? description : ""), *e};
    event->encoding.counters = events_constraints_counters(&plan->machine.cpu, e->select);
    return event->name != NULL && event->description != NULL
               ? 0
               : run_fail(failure, "out of memory; end other programs");
}

static bool has_counter(const struct sweep_machine *machine, const struct events_encoding *e)
{
    const struct sweep_event event = {.encoding = *e};
    const struct sweep_run alone = {.events = {0}, .count = 1};

    return sweep_plan_fits(machine, &event, &alone);
}

/* What a list of the CPU's events has; what -e does not take and what no counter counts is left
 * out. */
static void offer(void *context, const char *name, const char *description)
{
    struct choice *c = context;
    struct events_encoding e = {0};
    struct run_failure unasked = {0};

    if (c->pattern != NULL && fnmatch(c->pattern, name, FNM_CASEFOLD) != 0)
        return;
    if (events_is_register(name) ||
        events_resolve(&c->plan->machine.cpu, name, &e, &unasked) != 0 || e.select == 0 ||
        events_is_sampled(&e) || !has_counter(&c->plan->machine, &e))
        return;
    c->found++;
    add(c->plan, name, description, &e, c->failure);
}

struct description {
    const char *name;
    char text[300];
};

static void look(void *context, const char *name, const char *description)
{
    struct description *d = context;

    if (strcasecmp(d->name, name) == 0 && description != NULL)
        snprintf(d->text, sizeof d->text, "%s", description);
}

static int add_named(struct sweep_plan *plan, const char *name, struct run_failure *failure)
{
    const struct events_cpu *cpu = &plan->machine.cpu;
    struct description d = {.name = name};
    struct events_encoding e = {0};

    if (!events_is_register(name) && events_resolve(cpu, name, &e, failure) != 0)
        return -1;
    if (events_is_precise(name))
        return run_fail(failure, "event '%s' asks for records; a sweep counts, leave out the :p",
                        name);
    if (events_is_sampled(&e))
        return run_fail(failure, "event '%s': this CPU only samples it, in --mode pebs of hr run",
                        name);
    events_list_generic(cpu, look, &d);
    events_list_registers(cpu, look, &d);
    events_list_own(cpu, look, &d);
    return add(plan, name, d.text, &e, failure);
}

static int add_pattern(struct sweep_plan *plan, const char *pattern, struct run_failure *failure)
{
    struct choice c = {.plan = plan, .pattern = pattern, .failure = failure};
    char described[EVENTS_CPU_TEXT_BYTES];

    events_list_generic(&plan->machine.cpu, offer, &c); /* their names are the better known */
    events_list_own(&plan->machine.cpu, offer, &c);
    if (failure->exit_status != 0)
        return -1;
    if (c.found == 0)
        return run_fail(failure, "no event of %s matches '%s'; 'hr events' lists them",
                        events_cpu_describe(&plan->machine.cpu, described),
                        pattern != NULL ? pattern : "all");
    return 0;
}

static int add_one(struct sweep_plan *plan, const char *name, struct run_failure *failure)
{
    char members[EVENTS_PRESET_BYTES];

    if (name[0] == '@') {
        if (!events_preset_list(name, strlen(name), &plan->machine.cpu, members))
            return run_fail(failure, "unknown group of events '%s'; 'hr events @' lists them",
                            name);
        if (members[0] == 0)
            return run_fail(failure, "the CPU does not have the events of %s", name);
        return sweep_plan_events(plan, members, failure);
    }
    if (strcmp(name, "all") == 0)
        return add_pattern(plan, NULL, failure);
    if (strpbrk(name, "*?[") != NULL)
        return add_pattern(plan, name, failure);
    return add_named(plan, name, failure);
}

int sweep_plan_events(struct sweep_plan *plan, const char *list, struct run_failure *failure)
{
    int result = 0;

    while (result == 0) {
        size_t bytes = events_spec_length(list);
        char *name = strndup(list, bytes);

        if (name == NULL)
            return run_fail(failure, "out of memory; end other programs");
        result = add_one(plan, name, failure);
        free(name);
        if (list[bytes] == 0)
            break;
        list += bytes + 1;
    }
    return result;
}
