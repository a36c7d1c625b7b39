/* How the period of overflow sampling adapts to a rate. */
#include "guest/overflow.h"
#include "lib/muldiv.h"

#define STEP_MAX 16u /* an estimate is believed up to this factor */
#define DAMPING_SHIFT 3 /* an eighth of the difference a sample: noise averages out over eight */
#define DEAD_BAND_SHIFT 7 /* differences below a 128th change nothing */

/* period = counted * 10^9 / (delta_ns * freq), in ticks; bounded, so that the product fits. */
static uint64_t estimate(uint64_t period, uint64_t counted, uint64_t ticks, uint64_t wanted_ticks)
{
    if (ticks < wanted_ticks / STEP_MAX || ticks == 0)
        return period * STEP_MAX;
    if (ticks / STEP_MAX >= wanted_ticks)
        return period / STEP_MAX;
    return muldiv(counted, wanted_ticks, ticks);
}

uint64_t overflow_next_period(uint64_t period, uint64_t counted, uint64_t ticks,
                              uint64_t wanted_ticks, bool settled)
{
    int64_t difference = (int64_t)(estimate(period, counted, ticks, wanted_ticks) - period);
    int64_t band = (int64_t)(period >> DEAD_BAND_SHIFT);

    if (settled) {
        if (difference >= -band && difference <= band)
            return period;
        difference = difference / (1 << DAMPING_SHIFT) + (difference > 0 ? 1 : -1);
    }
    period += (uint64_t)difference;
    return period ? period : 1;
}
