/* How the period of overflow sampling adapts to a rate. */
#include "guest/sample/overflow.h"
#include "lib/muldiv.h"

#define DAMPING_SHIFT 3 /* sums fade by an eighth a sample */
#define STEP_MAX 16u /* from one period to the next, at most this factor */
#define SLOW_MAX 4u /* a sample this many times late resets the sums */
#define DEAD_BAND_SHIFT 7 /* differences below a 128th change nothing */
#define EVENTS_A_TICK 4096u /* more than any counter counts, cycles in virtual time included */

/* The sums of events and of ticks fade together, so that their ratio is the event's rate over the
 * last samples, each weighted by its length: the mean of the samples' own ratios would be too high.
 */
static void overflow_period_add(struct overflow_rate *rate, uint64_t counted, uint64_t ticks,
                                uint64_t wanted_ticks)
{
    if (ticks / SLOW_MAX > wanted_ticks)
        *rate = (struct overflow_rate){0};
    rate->counted += counted - (rate->counted >> DAMPING_SHIFT);
    rate->ticks += ticks - (rate->ticks >> DAMPING_SHIFT);
    if (rate->ticks <= rate->counted / EVENTS_A_TICK) /* and the quotient below fits */
        rate->ticks = rate->counted / EVENTS_A_TICK + 1;
}

uint64_t overflow_next_period(struct overflow_rate *rate, uint64_t period, uint64_t counted,
                              uint64_t ticks, uint64_t wanted_ticks)
{
    uint64_t next, band;

    overflow_period_add(rate, counted, ticks, wanted_ticks);
    next = muldiv(rate->counted, wanted_ticks, rate->ticks);
    band = period >> DEAD_BAND_SHIFT;
    if (next / STEP_MAX > period)
        next = period * STEP_MAX;
    if (next < period / STEP_MAX)
        next = period / STEP_MAX;
    if (next + band >= period && next <= period + band)
        return period;
    return next ? next : 1;
}
