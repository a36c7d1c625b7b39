/* Runs a suite.  Its only output is a line for each benchmark on stderr. */
#pragma once

#include "host/remote/remote.h"
#include "host/suite/suite_result.h"
#include "host/trial/trial.h"

struct suite_selection {
    struct suite_texts tags; /* benchmarks with one of them; none: all */
    struct suite_texts names; /* benchmarks of these names; none: all */
    bool quiet; /* no progress */
    uint64_t repeat; /* in place of the suite's; 0: not given */
    uint64_t warm_up; /* likewise; UINT64_MAX: not given */
    struct remote_where where; /* of the runs; owned */
    bool resume; /* on other machines: take what is there */
};

/* Runs the benchmarks that are selected, one after the other.  The folder `output` gets NAME.hr, a
 * trace, and NAME.out and NAME.err, what the program wrote, and at the end results.json.  What
 * fails is a result, too: the others run.  Returns 0, or -1 with the failure filled.  `results` is
 * to be freed in any case. */
int suite_run(const struct suite *suite, const struct suite_selection *selection,
              const char *output, struct suite_results *results, struct run_failure *failure);

/* Adds run `number`, from 1 on, to a benchmark's outcome: its trace is read, and `output` is what
 * the program wrote.  Where runs are exact, another one must count and write the same.  Returns 0,
 * or -ENOMEM. */
int suite_repeat_add(struct suite_outcome *outcome, uint32_t number, const char *trace,
                     const struct trial_output *output);

/* As above, of a run that was measured, whose contents it takes. */
int suite_repeat_join(struct suite_outcome *outcome, uint32_t number, struct suite_outcome *run);

/* Returns how many runs a benchmark needs, which its first one decides. */
uint32_t suite_repeat_count(const struct suite_selection *selection,
                            const struct suite_benchmark *benchmark,
                            const struct suite_outcome *first);

/* Fills an outcome from a trace.  Returns 0; or sets its problem and returns 0, too; or -ENOMEM. */
int suite_measure(struct suite_outcome *outcome, const char *trace);
