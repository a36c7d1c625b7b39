/* Differences of repeated runs, by the statistics of hr compare. */
#include "host/suite/suite_spread.h"

#include <math.h>
#include <stdio.h>

#include "host/base/text.h"
#include "host/compare/compare_print.h"

static size_t values_of(const struct suite_event *e, double values[SUITE_REPEAT_MAX])
{
    for (size_t i = 0; i < e->value_count; i++)
        values[i] = (double)e->values[i];
    return e->value_count;
}

bool suite_spread_of(const struct suite_pair *pair, size_t event, struct trial_difference *d)
{
    static double values[2][SUITE_REPEAT_MAX];
    const struct suite_outcome *sides[] = {pair->before, pair->after};
    int other;
    size_t counts[2];

    if (sides[1] == NULL || sides[1]->problem != NULL ||
        (sides[1]->exact && (sides[0] == NULL || sides[0]->exact)))
        return false;
    counts[1] = values_of(&sides[1]->events[event], values[1]);
    if (sides[0] == NULL || sides[0]->problem != NULL) {
        trial_difference_of(values[1], counts[1], values[1], counts[1], d);
        d->means[0] = d->variances[0] = 0;
        trial_difference_welch(d);
        return true;
    }
    other = suite_outcome_event(sides[0], sides[1]->events[event].name);
    if (other < 0)
        return false;
    counts[0] = values_of(&sides[0]->events[other], values[0]);
    trial_difference_of(values[0], counts[0], values[1], counts[1], d);
    return true;
}

/* How many runs show on which side of the bound the mean is. */
static char *remedy(const struct trial_difference *d, double bound, char text[80])
{
    struct trial_difference scale = *d;
    uint64_t runs;

    scale.means[0] = 1; /* the effect is a number, not a share */
    runs = trial_difference_runs(&scale, fabs(d->change - bound));
    if (runs > SUITE_REPEAT_MAX)
        snprintf(text, 80, "it is too close to the limit for %u runs", SUITE_REPEAT_MAX);
    else
        snprintf(text, 80, "--repeat %llu may do", (unsigned long long)runs);
    return text;
}

static void say_unknown(const struct trial_difference *d, double bound, struct suite_verdict *v)
{
    char low[TEXT_QUANTITY_BYTES], high[TEXT_QUANTITY_BYTES], advice[80];

    v->answer = SUITE_UNKNOWN;
    if (isinf(d->low))
        snprintf(v->why, sizeof v->why,
                 "not enough runs to tell: one run says nothing about chance; add --repeat 10%s",
                 d->counts[0] == 1 && d->counts[1] != 1 ? ", and make the base again" : "");
    else if (d->means[0] == 0)
        snprintf(v->why, sizeof v->why, "not enough runs to tell: its mean is %s to %s (95 %%); %s",
                 text_count(low, (uint64_t)fmax(d->low, 0)),
                 text_count(high, (uint64_t)fmax(d->high, 0)), remedy(d, bound, advice));
    else
        snprintf(v->why, sizeof v->why,
                 "not enough runs to tell: it changed by %s to %s (95 %%), and these runs show "
                 "changes of %.2g %% or more; %s",
                 compare_share(low, d, d->low), compare_share(high, d, d->high),
                 100 * d->least / d->means[0], remedy(d, bound, advice));
}

void suite_spread_judge(const struct trial_difference *d, const struct suite_limit *limit,
                        struct suite_verdict *v)
{
    double bound = limit->kind == SUITE_PERCENT ? limit->value * d->means[0] / 100 : limit->value;

    if (d->low > bound)
        v->answer = SUITE_ABOVE;
    else if (!(d->high <= bound))
        say_unknown(d, bound, v);
}

char *suite_spread_words(const struct suite_pair *pair, size_t event, char text[SUITE_SPREAD_BYTES])
{
    struct trial_difference d;
    char low[TEXT_QUANTITY_BYTES], high[TEXT_QUANTITY_BYTES];
    bool based = pair->before != NULL && pair->before->problem == NULL;

    text[0] = 0;
    if (!suite_spread_of(pair, event, &d))
        return text;
    if (isinf(d.low))
        snprintf(text, SUITE_SPREAD_BYTES, "%s", based ? "too few runs" : "one run");
    else if (!based)
        snprintf(text, SUITE_SPREAD_BYTES, "95 %%: %s to %s, %zu runs",
                 text_count(low, (uint64_t)fmax(d.low, 0)),
                 text_count(high, (uint64_t)fmax(d.high, 0)), d.counts[1]);
    else
        snprintf(text, SUITE_SPREAD_BYTES, "95 %%: %s to %s, %zu and %zu runs",
                 compare_share(low, &d, d.low), compare_share(high, &d, d.high), d.counts[0],
                 d.counts[1]);
    return text;
}
