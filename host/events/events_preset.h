/* Named groups of events, such as @bandwidth or @tma1, and metrics by name, such as @IPC: what they
 * stand for depends on the CPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "host/base/run_failure.h"
#include "host/events/events_cpu.h"
#include "host/metrics/metrics_table.h"

#define EVENTS_PRESET_BYTES 2048

struct events_preset {
    const char *name; /* with the @ */
    const char *description;
};

extern const struct events_preset events_presets[]; /* ends with a NULL name */

/* The metrics of a CPU. */
void events_preset_metrics(const struct events_cpu *cpu, struct metrics_set *set);

/* Writes the events of a group or metric, `bytes` long with its @, as a list for -e; "" if the CPU
 * does not have them.  Returns false if there is no such group. */
bool events_preset_list(const char *name, size_t bytes, const struct events_cpu *cpu,
                        char list[EVENTS_PRESET_BYTES]);

/* Copies a list of events with the groups in it expanded, for the CPU that `cpu` names (as
 * events_cpu_parse takes it; NULL: the one that this process runs on).  An event of a group that is
 * in the list already is left out.  The caller frees *expanded.  Returns 0, or -1 with the failure
 * filled. */
int events_preset_expand(const char *list, const char *cpu, char **expanded,
                         struct run_failure *failure);
