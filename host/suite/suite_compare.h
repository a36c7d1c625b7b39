/* Compares the results of a suite with those of a base, and judges them by their limits.  Never
 * prints. */
#pragma once

#include "host/diff/diff.h"
#include "host/suite/suite_result.h"

#define SUITE_WHY_BYTES 400

enum suite_answer {
    SUITE_WITHIN,
    SUITE_ABOVE,
    SUITE_NEW, /* there is no base to compare with */
    SUITE_UNKNOWN, /* it cannot be decided */
};

struct suite_verdict { /* about a limit */
    const struct suite_limit *limit;
    enum suite_answer answer;
    struct diff_change change; /* of the event, or of the event in the function */
    char why[SUITE_WHY_BYTES]; /* it cannot be decided */
    char interval[160]; /* of the change, for people; "": it is exact */
};

struct suite_pair { /* a benchmark; one side may lack it */
    const char *name;
    const struct suite_outcome *before; /* NULL: the base has none of that name */
    const struct suite_outcome *after; /* NULL: it did not run */
    struct suite_verdict *verdicts; /* of all limits of `after`; owned */
    bool changed; /* the count of an event did; where runs vary, by more than chance */
    bool has_page, has_diff; /* host/suite/suite_pages.h wrote it */
    bool same_program; /* exact counts on both sides are of the same file, as far as is known */
    char facts[DIFF_FACTS_BYTES]; /* what else is not the same */
};

struct suite_comparison {
    const struct suite_results *before; /* NULL: there is no base */
    const struct suite_results *after;
    struct suite_pair *pairs; /* in the order of `after`, then what is in `before` alone; owned */
    size_t pair_count;
    size_t above; /* limits, of all benchmarks */
    size_t unknown; /* limits without an answer, and benchmarks without counts */
    size_t changed, added, gone; /* benchmarks */
};

/* Compares; both sides must outlive the comparison, and `before` may be NULL.  Returns 0, or -1
 * with the failure filled: they cannot be compared, or no memory.  To be freed in any case. */
int suite_compare(struct suite_comparison *c, const struct suite_results *before,
                  const struct suite_results *after, struct run_failure *failure);
void suite_comparison_free(struct suite_comparison *c);

/* The exit status: 0: all within, 1: a limit is exceeded, 2: no answer. */
int suite_comparison_status(const struct suite_comparison *c);

/* The change of event number `event` of `after` in a pair. */
struct diff_change suite_pair_change(const struct suite_pair *pair, size_t event);

/* Fills `changes`, which the caller frees, with the functions whose count of the event changed,
 * those that changed most first.  Returns their number, or -ENOMEM. */
long suite_pair_functions(const struct suite_pair *pair, size_t event,
                          struct diff_change **changes);
