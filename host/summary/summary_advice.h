/* Judges whether a run was sampled too often, and what rate would suffice.  Never prints. */
#pragma once

#include <stdbool.h>

#include "host/summary/summary.h"

#define SUMMARY_ADVICE_PERCENT 10 /* of the program's time: more than this causes a warning */

struct summary_advice {
    double share; /* of the program's time that sampling takes, 0 to 1 */
    char option[48]; /* keeps it at SUMMARY_ADVICE_PERCENT: "-i 5us", "-c 20000", "-F 5000" */
};

/* Returns true if sampling takes too much.  Never for a program whose clock is stopped during
 * samples, nor for samples that the program requests itself. */
bool summary_advise(const struct summary *summary, struct summary_advice *advice);
