/* How the samples' intervals, costs, lateness and events spread: histograms for the page. */
#pragma once

#include "host/draw/histogram.h"
#include "host/scan/trace_scan.h"

#include <jansson.h>

enum { VIEW_INTERVAL, VIEW_COST, VIEW_LATENESS, VIEW_EVENTS }; /* the last: one for each event */
#define VIEW_SPREADS_MAX (VIEW_EVENTS + HR_EVENTS_MAX)

struct view_spread {
    struct histogram all[VIEW_SPREADS_MAX]; /* times in ticks */
    uint32_t event_count;
    uint64_t grid_ticks; /* samples are due at multiples of this since the start; 0: at no time */
    uint64_t start;
};

/* 0 or -ENOMEM. */
int view_spread_init(struct view_spread *spread, const struct trace_info *info);
void view_spread_free(struct view_spread *spread);

void view_spread_add(struct view_spread *spread, const struct trace_samples *samples);

/* A list of objects, each with percentiles and the counts of equal steps between 0.1 % and 99.9 %;
 * NULL without memory. */
json_t *view_spread_json(const struct view_spread *spread, const struct trace_info *info);
