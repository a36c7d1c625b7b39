/* The events that need no table of a CPU: perf's generic names and the vendors' architectural
 * events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/events/events_cpu.h"

/* Encodes a generic or architectural event for the CPU, without rings.  Returns false if the CPU
 * has no event of that name. */
bool events_generic_encode(const struct events_cpu *cpu, const char *name, uint64_t *select,
                           uint64_t *companion);

struct events_architectural {
    const char *name;
    const char *description;
    uint64_t select;
};

/* Intel's pre-defined architectural events; ends with a NULL name. */
extern const struct events_architectural events_architectural[];
