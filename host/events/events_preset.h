/* Named groups of events, such as @bandwidth: what they stand for depends on the CPU. */
#pragma once

#include "host/base/run_failure.h"
#include "host/events/events_cpu.h"

#define EVENTS_PRESET_BYTES 256

struct events_preset {
    const char *name; /* with the @ */
    const char *description;
};

extern const struct events_preset events_presets[]; /* ends with a NULL name */

/* Writes the events of a group that the CPU has, as a list for -e; "" if it has none. */
void events_preset_list(const struct events_preset *group, const struct events_cpu *cpu,
                        char list[EVENTS_PRESET_BYTES]);

/* Copies a list of events with the groups in it expanded, for the CPU that `cpu` names (as
 * events_cpu_parse takes it; NULL: the one that this process runs on).  The caller frees *expanded.
 * Returns 0, or -1 with the failure filled. */
int events_preset_expand(const char *list, const char *cpu, char **expanded,
                         struct run_failure *failure);
