/* Bipartite matching of events and counters (Kuhn's algorithm). */
#include "lib/pmu/pmu_match.h"

#include <stdbool.h>
#include <string.h>

#define NOBODY 0xff

struct matching {
    const uint32_t *allowed;
    uint8_t owner[PMU_MATCH_COUNTERS_MAX]; /* event that has the counter; 0xff: none */
};

/* Gives a free counter, or moves other events out of the way; `tried`: counters seen on this
 * attempt. Recursion is as deep as there are events. */
static bool pmu_match_place(struct matching *m, uint32_t event, uint32_t *tried)
{
    for (uint32_t c = 0; c < PMU_MATCH_COUNTERS_MAX; c++) {
        if (m->allowed[event] & 1u << c && m->owner[c] == NOBODY) {
            m->owner[c] = (uint8_t)event;
            return true;
        }
    }
    for (uint32_t c = 0; c < PMU_MATCH_COUNTERS_MAX; c++) {
        uint32_t bit = 1u << c;
        if (!(m->allowed[event] & bit) || *tried & bit)
            continue;
        *tried |= bit;
        if (pmu_match_place(m, m->owner[c], tried)) {
            m->owner[c] = (uint8_t)event;
            return true;
        }
    }
    return false;
}

uint32_t pmu_match(const uint32_t *allowed, uint32_t count, uint8_t *counters)
{
    struct matching m = {.allowed = allowed};

    memset(m.owner, NOBODY, sizeof m.owner);
    for (uint32_t event = 0; event < count; event++) {
        uint32_t tried = 0;
        if (!pmu_match_place(&m, event, &tried))
            return event + 1;
    }
    for (uint32_t c = 0; c < PMU_MATCH_COUNTERS_MAX; c++) {
        if (m.owner[c] != NOBODY)
            counters[m.owner[c]] = (uint8_t)c;
    }
    return 0;
}
