/* Runs two programs in turn and says what is different: hr compare. */
#pragma once

#include <limits.h>

#include "host/compare/compare_functions.h"
#include "host/diff/diff.h"
#include "host/trial/trial.h"
#include "host/trial/trial_difference.h"
#include "host/trial/trial_options.h"
#include "host/trial/trial_totals.h"

#define COMPARE_REPEAT_MAX 1000u
#define COMPARE_REPEAT_HARDWARE 10u /* where runs vary */

enum compare_format { COMPARE_TABLE, COMPARE_CSV, COMPARE_JSON };

struct compare_run {
    struct trial_totals totals;
    struct trial_output output;
    int status;
};

struct compare {
    struct trial trials[2]; /* before and after */
    const char *names[2]; /* revisions; NULL: the programs themselves */
    uint64_t repeat; /* of each; 0: 1 in virtual time, else COMPARE_REPEAT_HARDWARE */
    uint64_t warm_up;
    uint64_t seed;
    bool quiet;
    char folder[PATH_MAX - 64]; /* absolute; for traces */
    bool keep; /* the traces */
    struct compare_run *runs[2]; /* repeat of each; owned */
    uint32_t done; /* of each */
    bool exact; /* in virtual time */
    struct compare_functions functions;
};

struct compare_row { /* an event's, or the time's */
    const char *name; /* raw; "time" */
    uint8_t source; /* enum hr_source */
    bool time; /* in ns */
    struct trial_difference difference;
};

/* Performs the runs, in random order, and reads their traces.  Returns 0, or -1 with the failure
 * filled; what was done before is there, `done` times each. */
int compare_measure(struct compare *compare, struct run_failure *failure);
void compare_free(struct compare *compare);

/* Fills the rows: the events that both have, then the time.  Returns their number. */
uint32_t compare_rows(const struct compare *compare, struct compare_row rows[HR_EVENTS_MAX + 1]);

/* Fills what is not the same in both though it should be: exit statuses and outputs; "": all is.
 * Returns `words`. */
#define COMPARE_WORDS_BYTES 512
const char *compare_disagreement(const struct compare *compare, char words[COMPARE_WORDS_BYTES]);

/* Returns by how many bytes the two commands differ in length. */
size_t compare_length_difference(const struct compare *compare);
