/* Whether a run was sampled too often for its own good, and how often would do.  Never prints. */
#ifndef HOST_SUMMARY_SUMMARY_ADVICE_H
#define HOST_SUMMARY_SUMMARY_ADVICE_H

#include <stdbool.h>

#include "host/summary/summary.h"

#define SUMMARY_ADVICE_PERCENT 10 /* of the program's time: more than this deserves a warning */

struct summary_advice {
    double share; /* of the program's time that its sampling takes, 0 to 1 */
    char option[48]; /* that keeps it at SUMMARY_ADVICE_PERCENT: "-i 5us", "-c 20000", "-F 5000" */
};

/* True when sampling takes too much.  Never where the program's clock stands still meanwhile, and
 * never for samples that the program asks for itself.
 */
bool summary_advise(const struct summary *summary, struct summary_advice *advice);

#endif
