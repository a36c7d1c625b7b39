/* What runs of benchmarks have in common, wherever they are. */
#pragma once

#include <limits.h>

#include "host/suite/suite_run.h"

struct suite_places { /* of a benchmark's files; absolute */
    char directory[SUITE_PATH_BYTES * 2]; /* where it runs */
    char trace[PATH_MAX + 100], output[PATH_MAX + 100], errors[PATH_MAX + 100];
};

/* Run `number`: 1 is NAME.hr, which is kept; another one is NAME+NUMBER.hr: of no benchmark. */
void suite_places_set(const struct suite *suite, const struct suite_benchmark *b,
                      const char *folder, uint32_t number, struct suite_places *places);

bool suite_is_selected(const struct suite_benchmark *b, const struct suite_selection *selection);
uint32_t suite_warm_up(const struct suite_benchmark *b, const struct suite_selection *selection);

/* Fills an outcome's name and limits.  Returns 0, or -1 with the failure filled. */
int suite_outcome_begin(struct suite_outcome *o, const struct suite_benchmark *b,
                        struct run_failure *failure);

/* Writes why a run with a wrong status has no counts; `errors` is what it said. */
#define SUITE_PROBLEM_BYTES 400
char *suite_problem(const struct suite_benchmark *b, int status, const char *errors,
                    char text[SUITE_PROBLEM_BYTES]);

/* Says on stderr what a benchmark counted. */
void suite_say(const struct suite_outcome *o, size_t number, size_t of);

/* Adds "Linux" to the facts of an outcome that its host's kernel may change.  Returns 0 or -ENOMEM.
 */
int suite_note_kernel(struct suite_outcome *o, const char *kernel);

/* Performs the benchmarks of the outcomes, one outcome for each that is selected, on other
 * machines.  Returns 0, or -1 with the failure filled. */
int suite_remote(const struct suite *suite, const struct suite_selection *selection,
                 const char *folder, struct suite_results *results, struct run_failure *failure);
