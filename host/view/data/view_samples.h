/* The samples of a small trace, or of a small part of one, one by one. */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/view/data/view_columns.h"

#define VIEW_SAMPLES_FIELDS 6u
#define VIEW_SAMPLES_VALUES_MAX (5u << 20) /* of a page; bounds its size */

struct view_samples {
    struct view_column columns[VIEW_SAMPLES_FIELDS + HR_EVENTS_MAX]; /* fields, increments; owned */
    uint32_t count;
    uint32_t max;
    uint32_t event_count;
    bool overflow; /* there were more: none is kept */
};

struct view_sample {
    uint64_t time; /* ticks since the program's start */
    uint32_t ticks; /* since the sample before; 0: unknown, or there was a pause; saturates */
    uint32_t group;
    uint32_t node;
    uint16_t cost_ticks;
    uint8_t flags;
};

/* Keeps at most `max` samples. */
void view_samples_init(struct view_samples *samples, uint32_t event_count, uint32_t max);
void view_samples_free(struct view_samples *samples);

/* Sets what sample n of a run says itself; `start`: of the program, in ticks.  Returns the one that
 * its increments count from, NULL when they belong nowhere. */
const struct trace_slot *view_samples_fill(struct view_sample *sample,
                                           const struct trace_samples *samples, uint32_t n,
                                           uint64_t start);

/* Adds a sample; previous NULL: its increments belong nowhere.  0 or -ENOMEM. */
int view_samples_add(struct view_samples *samples, const struct view_sample *sample,
                     const struct trace_slot *slot, const struct trace_slot *previous);

/* Puts the samples into a group of columns, unless there were too many. */
void view_samples_pack(const struct view_samples *samples, struct view_columns *columns);
