/* What repeated runs of a benchmark say where they vary.  Never prints. */
#pragma once

#include "host/suite/suite_compare.h"
#include "host/trial/trial_difference.h"

/* Fills how far the means of event number `event` of `after` are apart; without a base, how sure
 * its mean is, as a change from 0.  False: both sides are exact, or the base has no such event. */
bool suite_spread_of(const struct suite_pair *pair, size_t event, struct trial_difference *d);

/* Judges by the interval: a limit is exceeded, or holds, only if all of it says so. */
void suite_spread_judge(const struct trial_difference *d, const struct suite_limit *limit,
                        struct suite_verdict *verdict);

/* "95 %: -0.30 % to +2.10 %, 10 and 10 runs"; "" where runs are exact.  Returns `text`. */
#define SUITE_SPREAD_BYTES 160
char *suite_spread_words(const struct suite_pair *pair, size_t event,
                         char text[SUITE_SPREAD_BYTES]);
