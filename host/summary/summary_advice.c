/* Compares the calibrated cost of a sample with the time between samples. */
#include "host/summary/summary_advice.h"

#include <inttypes.h>
#include <stdio.h>

#define SHARE_MOST (SUMMARY_ADVICE_PERCENT / 100.0)
#define NUMBER_MOST 1e18 /* limit of a suggestion; fits 64 bits after rounding */

/* Returns the least of 1, 2, 5, 10, 20, 50 ... that is >= the value, or the largest that is <= it.
 */
static uint64_t rounded(double value, bool up)
{
    static const uint64_t steps[] = {1, 2, 5, 10};
    uint64_t decade = 1, below = 1;

    if (value < 1)
        return 1;
    if (value > NUMBER_MOST)
        value = NUMBER_MOST;
    while ((double)(decade * 10) <= value)
        decade *= 10;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t step = steps[i] * decade;

        if ((double)step >= value)
            return up || (double)step == value ? step : below;
        below = step;
    }
    return below;
}

static void suggest_interval(struct summary_advice *advice, double least_ns)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    uint64_t ns = rounded(least_ns, true);
    size_t i = 0;

    while (ns % units[i].ns != 0)
        i++;
    snprintf(advice->option, sizeof advice->option, "-i %" PRIu64 "%s", ns / units[i].ns,
             units[i].unit);
}

/* Returns the time between samples while the program runs, including sampling; 0: unknown. */
static double time_between(const struct summary *s)
{
    double requested = (double)trace_info_interval_ns(&s->info);
    double achieved = s->rate_hz > 0 ? 1e9 / s->rate_hz : (double)s->interval.p50_ns;

    return requested > achieved ? requested : achieved;
}

/* With the period, the program's own part of the time between samples grows; sampling's does not.
 */
static void suggest_period(struct summary_advice *advice, const struct summary *s, double cost_ns,
                           double between_ns)
{
    double own_ns = between_ns > 2 * cost_ns ? between_ns - cost_ns : between_ns / 2;
    double factor = cost_ns * (1 / SHARE_MOST - 1) / own_ns;

    snprintf(advice->option, sizeof advice->option, "-c %" PRIu64,
             rounded((double)s->period.last * factor, true));
}

/* Returns false if the requested rate is no higher: then the rate is still approaching it. */
static bool suggest_frequency(struct summary_advice *advice, uint32_t asked_hz, double most_hz)
{
    uint64_t hz = rounded(most_hz, false);

    snprintf(advice->option, sizeof advice->option, "-F %" PRIu64, hz);
    return hz < asked_hz;
}

bool summary_advise(const struct summary *s, struct summary_advice *advice)
{
    const struct hr_meta_sampling *sampling = &s->info.sampling;
    double cost_ns = (double)trace_info_ns(&s->info, s->info.calibration.sample_ticks);
    double between_ns = time_between(s);

    if (!s->info.has_calibration || s->info.has_accesses || s->samples == s->polled ||
        between_ns <= 0 || (sampling->flags & HR_SAMPLING_SHARED) != 0)
        return false;
    advice->share = cost_ns < between_ns ? cost_ns / between_ns : 1;
    if (advice->share <= SHARE_MOST)
        return false;
    if (sampling->interval_ticks != 0)
        suggest_interval(advice, cost_ns / SHARE_MOST);
    else if (sampling->frequency_hz != 0)
        return suggest_frequency(advice, sampling->frequency_hz, 1e9 * SHARE_MOST / cost_ns);
    else if (s->period.last != 0)
        suggest_period(advice, s, cost_ns, between_ns);
    else
        return false;
    return true;
}
