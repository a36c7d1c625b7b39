/* The generic events, by their perf names, and their ratios for the stub counters. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct event_info {
    const char *name;
    const char *description;
    /* stub value = instructions * numerator / denominator, rounded down */
    uint32_t stub_numerator;
    uint32_t stub_denominator;
};

extern const struct event_info events_table[]; /* ends with a NULL name */

/* Finds an event by name without its :suffix, `bytes` long.  Returns NULL if there is none. */
const struct event_info *events_find(const char *name, size_t bytes);
