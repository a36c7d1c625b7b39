/* Events by name: what -e accepts, and their encoding for a CPU's event select registers.
 *
 * The CPU is the guest's, not the one that runs this.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/events/events_cpu.h"
#include "include/hr_format.h"

struct events_wanted {
    char *names[HR_EVENTS_MAX]; /* with their suffixes; not owned */
    size_t count;
    bool quiet; /* do not report errata */
};

struct events_encoding {
    uint64_t select; /* in the format of RUN_HOST_EVENT */
    uint64_t companion; /* 0: none */
    uint32_t counters; /* general counters that can count it, a bit each; 0: all */
};

/* Checks an event before the CPU is known: its syntax, and that some CPU has an event of that name.
 * Returns 0, or -1 with the failure filled, which names the nearest events. */
int events_check(const char *text, struct run_failure *failure);

/* Returns whether a machine without counters can provide the event: a generic name, counted for the
 * program. */
bool events_is_generic(const char *text);

/* Returns whether the event's suffix asks for precise records. */
bool events_is_precise(const char *text);

/* Returns whether the event is a register of the CPU (lib/pmu/msr_events.h) rather than a counter.
 */
bool events_is_register(const char *text);

/* Returns whether no counter counts the event, and the processor only samples it (AMD's IBS, in
 * mode pebs). */
bool events_is_sampled(const struct events_encoding *encoding);

/* Encodes an event for a CPU.  Returns 0, or -1 with the failure filled. */
int events_resolve(const struct events_cpu *cpu, const char *text, struct events_encoding *encoding,
                   struct run_failure *failure);

typedef void events_visit(void *context, const char *name, const char *description);

/* Call visit for every event of the CPU by name: generic ones, registers, or its own. */
void events_list_generic(const struct events_cpu *cpu, events_visit *visit, void *context);
void events_list_registers(const struct events_cpu *cpu, events_visit *visit, void *context);
void events_list_own(const struct events_cpu *cpu, events_visit *visit, void *context);
