/* Divides events over runs, so that each run has counters for all its events: as few runs as
 * possible.
 *
 * The rules are those of the kernel's drivers: fixed counters are free, some general counters count
 * some events only, and a companion register has one value in a run.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/events/events.h"

#define SWEEP_AXIS "instructions" /* the first event of every run, by which runs are joined */

struct sweep_machine { /* what a run of the sweep can count */
    struct events_cpu cpu;
    char processor[96]; /* its brand string, raw */
    uint32_t general; /* general counters, a bit each */
    uint32_t fixed; /* fixed counters, likewise */
};

struct sweep_event {
    char *name; /* as for -e; owned */
    char *description; /* "" if there is none; owned */
    struct events_encoding encoding; /* all zero: a register that always counts */
};

struct sweep_run {
    uint32_t events[HR_EVENTS_MAX - 1]; /* numbers, in the order in which -e names them */
    uint32_t count;
};

struct sweep_plan {
    struct sweep_machine machine;
    struct sweep_event *events;
    size_t event_count;
    struct sweep_run *runs;
    size_t run_count;
    size_t least; /* no plan has fewer runs */
};

/* Adds the events that `list` names: as for -e, or a pattern with * or ?, or "all": every event of
 * the CPU.  An event whose encoding is in the plan already is left out.  Returns 0, or -1 with the
 * failure filled. */
int sweep_plan_events(struct sweep_plan *plan, const char *list, struct run_failure *failure);

/* Makes the runs.  Returns 0, or -1 with the failure filled: an event that no run can count. */
int sweep_plan_make(struct sweep_plan *plan, struct run_failure *failure);

/* Adds a run of one event; its failure to run with others is known.  Returns 0 or -ENOMEM. */
int sweep_plan_alone(struct sweep_plan *plan, uint32_t event);

void sweep_plan_free(struct sweep_plan *plan);

/* Writes the list of a run's events for -e, the axis first; the caller frees it.  NULL: no memory.
 */
char *sweep_plan_list(const struct sweep_plan *plan, const struct sweep_run *run);

/* Returns whether one run can count these events. */
bool sweep_plan_fits(const struct sweep_machine *machine, const struct sweep_event *events,
                     const struct sweep_run *run);
