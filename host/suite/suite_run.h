/* Runs a suite.  Its only output is a line for each benchmark on stderr. */
#pragma once

#include "host/suite/suite_result.h"

struct suite_selection {
    struct suite_texts tags; /* benchmarks with one of them; none: all */
    struct suite_texts names; /* benchmarks of these names; none: all */
    bool quiet; /* no progress */
};

/* Runs the benchmarks that are selected, one after the other.  The folder `output` gets NAME.hr, a
 * trace, and NAME.out and NAME.err, what the program wrote, and at the end results.json.  What
 * fails is a result, too: the others run.  Returns 0, or -1 with the failure filled.  `results` is
 * to be freed in any case. */
int suite_run(const struct suite *suite, const struct suite_selection *selection,
              const char *output, struct suite_results *results, struct run_failure *failure);

/* Fills an outcome from a trace.  Returns 0; or sets its problem and returns 0, too; or -ENOMEM. */
int suite_measure(struct suite_outcome *outcome, const char *trace);
