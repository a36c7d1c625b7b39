/* Gives events counters when not every counter can count every event. */
#pragma once

#include <stdint.h>

#include "include/hr_format.h"

#define PMU_MATCH_COUNTERS_MAX 32

/* allowed[i]: the counters that event i may use, a bit each.  Finds an assignment of all events to
 * different counters if there is one (bipartite matching by augmenting paths): 0 and counters[i],
 * or the number of the first event that cannot be placed plus 1.  count is at most HR_EVENTS_MAX.
 */
uint32_t pmu_match(const uint32_t *allowed, uint32_t count, uint8_t *counters);
