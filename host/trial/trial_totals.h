/* What one run counted in all.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/trace/trace_info.h"

struct trial_totals {
    uint32_t event_count;
    char names[HR_EVENTS_MAX][64]; /* without the default suffix ":u"; raw */
    uint8_t sources[HR_EVENTS_MAX]; /* enum hr_source */
    uint64_t totals[HR_EVENTS_MAX];
    uint64_t duration_ns; /* of the program, by its clock */
    bool exact; /* in virtual time: another run counts the same */
    bool complete; /* the trace says how the program ended */
};

/* Takes them from a trace that was read. */
void trial_totals_take(struct trial_totals *totals, const struct trace_info *info);

/* Reads a trace for them.  Returns 0 or -errno. */
int trial_totals_read(struct trial_totals *totals, const char *path);

/* Returns the event of that name, which may omit the :suffix; -1 if there is none. */
int trial_totals_find(const struct trial_totals *totals, const char *name);
