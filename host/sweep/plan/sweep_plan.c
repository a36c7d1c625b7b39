/* Packs events into runs: those that fit into the fewest counters first, each into the first run
 * that can still count it. */
#include "host/sweep/plan/sweep_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/events/events_constraints.h"
#include "host/events/events_run.h"
#include "lib/pmu/pmu_intel.h"
#include "lib/pmu/pmu_match.h"

#define AXIS_SELECT_INTEL 0x00c0 /* SDM "Pre-defined Architectural Performance Events" */

static bool is_register(const struct sweep_event *event)
{
    return event->encoding.select == 0;
}

/* The fixed counter that the machine has for a select, or -1. */
static int fixed_counter(const struct sweep_machine *m, uint64_t select)
{
    int counter = m->cpu.vendor == RUN_CPU_INTEL ? pmu_intel_fixed(select) : -1;

    return counter >= 0 && m->fixed & 1u << counter ? counter : -1;
}

/* The general counters that the machine has for an encoding. */
static uint32_t general_counters(const struct sweep_machine *m, const struct events_encoding *e)
{
    if (m->cpu.vendor == RUN_CPU_INTEL && !pmu_intel_is_general(e->select))
        return 0;
    return e->counters != 0 ? m->general & e->counters : m->general;
}

static bool companions_agree(const struct sweep_machine *m, const struct events_encoding *e,
                             size_t count)
{
    for (size_t i = 0; i < count && m->cpu.vendor == RUN_CPU_INTEL; i++)
        for (size_t j = 0; j < i; j++)
            if (e[i].companion != 0 && e[j].companion != 0 && e[i].companion != e[j].companion &&
                pmu_intel_companion(e[i].select) == pmu_intel_companion(e[j].select))
                return false;
    return true;
}

/* The kernel gives a fixed counter to the first event that can use it, and matches the rest. */
static bool counters_suffice(const struct sweep_machine *m, const struct events_encoding *e,
                             size_t count)
{
    uint32_t allowed[HR_EVENTS_MAX], needed = 0, taken = 0;
    uint8_t counters[HR_EVENTS_MAX];

    for (size_t i = 0; i < count; i++) {
        int fixed = fixed_counter(m, e[i].select);

        if (fixed >= 0 && !(taken & 1u << fixed))
            taken |= 1u << fixed;
        else
            allowed[needed++] = general_counters(m, &e[i]);
    }
    return pmu_match(allowed, needed, counters) == 0;
}

bool sweep_plan_fits(const struct sweep_machine *machine, const struct sweep_event *events,
                     const struct sweep_run *run)
{
    struct events_encoding e[HR_EVENTS_MAX] = {{.select = AXIS_SELECT_INTEL}};
    size_t count = 1;

    for (uint32_t i = 0; i < run->count; i++)
        if (!is_register(&events[run->events[i]]))
            e[count++] = events[run->events[i]].encoding;
    events_run_settle(&machine->cpu, e, count);
    return companions_agree(machine, e, count) && counters_suffice(machine, e, count);
}

/* How many ways there are to count an event: few ones are placed first. */
static uint32_t freedom(const struct sweep_machine *m, const struct sweep_event *event)
{
    uint32_t ways = (uint32_t)__builtin_popcount(general_counters(m, &event->encoding));

    if (is_register(event))
        return UINT32_MAX;
    if (event->encoding.companion != 0)
        return ways;
    return fixed_counter(m, event->encoding.select) >= 0 ? 200 + ways : 100 + ways;
}

struct place { /* an event in the order of packing */
    uint32_t freedom, event;
    uint64_t companion; /* equal values share a register, so they come together */
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->freedom != y->freedom)
        return x->freedom < y->freedom ? -1 : 1;
    if (x->companion != y->companion)
        return x->companion < y->companion ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static bool add_to(const struct sweep_plan *plan, struct sweep_run *run, uint32_t event)
{
    struct sweep_run longer = *run;

    if (run->count == HR_EVENTS_MAX - 1)
        return false;
    longer.events[longer.count++] = event;
    if (!sweep_plan_fits(&plan->machine, plan->events, &longer))
        return false;
    *run = longer;
    return true;
}

int sweep_plan_alone(struct sweep_plan *plan, uint32_t event)
{
    if (array_grow(&plan->runs, plan->run_count, sizeof plan->runs[0]) != 0)
        return -ENOMEM;
    plan->runs[plan->run_count++] = (struct sweep_run){.events = {event}, .count = 1};
    return 0;
}

static int place(struct sweep_plan *plan, uint32_t event, struct run_failure *failure)
{
    struct sweep_run alone = {0};

    for (size_t i = 0; i < plan->run_count; i++)
        if (add_to(plan, &plan->runs[i], event))
            return 0;
    if (!add_to(plan, &alone, event))
        return run_fail(failure, "event '%s' has no counter on this machine; leave it out",
                        plan->events[event].name);
    return sweep_plan_alone(plan, event) == 0
               ? 0
               : run_fail(failure, "out of memory; end other programs");
}

/* The runs that events need which can use the counters of `mask` alone (Hall's theorem): those of
 * them that fixed counters take do not count. */
static size_t least_for(const struct sweep_plan *plan, uint32_t mask)
{
    const struct sweep_machine *m = &plan->machine;
    size_t room = (size_t)__builtin_popcount(mask), wanted = 0;

    for (size_t i = 0; i < plan->event_count; i++) {
        const struct sweep_event *e = &plan->events[i];
        uint32_t general = is_register(e) ? 0 : general_counters(m, &e->encoding);

        wanted +=
            general != 0 && (general & ~mask) == 0 && fixed_counter(m, e->encoding.select) < 0;
    }
    if (mask == m->general && fixed_counter(m, AXIS_SELECT_INTEL) < 0)
        room--; /* of every run: the axis */
    return room != 0 ? (wanted + room - 1) / room : wanted;
}

/* The runs that events need which have different values for the companion registers of one kind:
 * off-core responses have two of them where the CPU has. */
static size_t least_for_companions(const struct sweep_plan *plan, const struct sweep_event *like)
{
    const struct sweep_machine *m = &plan->machine;
    uint32_t register_of = pmu_intel_companion(like->encoding.select);
    size_t room = events_constraints_alternative(&m->cpu, like->encoding.select) != 0 ? 2 : 1;
    size_t values = 0;

    if (m->cpu.vendor != RUN_CPU_INTEL || like->encoding.companion == 0)
        return 0;
    for (size_t i = 0; i < plan->event_count; i++) {
        const struct events_encoding *e = &plan->events[i].encoding;
        bool first = e->companion != 0 && pmu_intel_companion(e->select) == register_of;

        for (size_t j = 0; j < i && first; j++)
            first = plan->events[j].encoding.companion != e->companion ||
                    pmu_intel_companion(plan->events[j].encoding.select) != register_of;
        values += first;
    }
    return (values + room - 1) / room;
}

/* The events that one fixed counter alone can count. */
static size_t least_for_fixed(const struct sweep_plan *plan, int fixed)
{
    const struct sweep_machine *m = &plan->machine;
    size_t wanted = 0;

    for (size_t i = 0; i < plan->event_count; i++) {
        const struct events_encoding *e = &plan->events[i].encoding;

        wanted +=
            e->select != 0 && fixed_counter(m, e->select) == fixed && general_counters(m, e) == 0;
    }
    return wanted;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t least_runs(const struct sweep_plan *plan)
{
    size_t least = most(least_for(plan, plan->machine.general),
                        (plan->event_count + HR_EVENTS_MAX - 2) / (HR_EVENTS_MAX - 1));

    for (size_t i = 0; i < plan->event_count; i++) {
        const struct sweep_event *e = &plan->events[i];
        int fixed = fixed_counter(&plan->machine, e->encoding.select);

        if (is_register(e))
            continue;
        least = most(least, least_for(plan, general_counters(&plan->machine, &e->encoding)));
        least = most(least, least_for_companions(plan, e));
        if (fixed >= 0)
            least = most(least, least_for_fixed(plan, fixed));
    }
    return least;
}

int sweep_plan_make(struct sweep_plan *plan, struct run_failure *failure)
{
    struct place *order = calloc(plan->event_count + 1, sizeof order[0]);
    int result = 0;

    if (order == NULL)
        return run_fail(failure, "out of memory; end other programs");
    for (uint32_t i = 0; i < plan->event_count; i++)
        order[i] = (struct place){freedom(&plan->machine, &plan->events[i]), i,
                                  plan->events[i].encoding.companion};
    qsort(order, plan->event_count, sizeof order[0], compare);
    for (size_t i = 0; i < plan->event_count && result == 0; i++)
        result = place(plan, order[i].event, failure);
    plan->least = least_runs(plan);
    free(order);
    return result;
}

char *sweep_plan_list(const struct sweep_plan *plan, const struct sweep_run *run)
{
    char *list = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&list, &bytes);

    if (out == NULL)
        return NULL;
    fputs(SWEEP_AXIS, out);
    for (uint32_t i = 0; i < run->count; i++)
        fprintf(out, ",%s", plan->events[run->events[i]].name);
    if (fclose(out) == 0)
        return list;
    free(list);
    return NULL;
}

void sweep_plan_free(struct sweep_plan *plan)
{
    for (size_t i = 0; i < plan->event_count; i++) {
        free(plan->events[i].name);
        free(plan->events[i].description);
    }
    free(plan->events);
    free(plan->runs);
    *plan = (struct sweep_plan){0};
}
