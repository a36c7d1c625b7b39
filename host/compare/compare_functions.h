/* What each function counted, over repeated runs of two programs.  Never prints. */
#pragma once

#include "host/diff/diff.h"
#include "host/trial/trial_difference.h"

struct compare_function {
    char *name; /* raw; owned */
    char *object; /* raw; owned */
    bool in[2]; /* whether it was there, before and after */
    double first[2]; /* values of the first pair; what follows is of differences to them */
    double sums[2], squares[2];
    double chance; /* sum over pairs: see diff_chance */
    struct trial_difference difference; /* of compare_functions_finish */
};

struct compare_functions {
    struct compare_function *all; /* in the order of names; by change once finished; owned */
    size_t count;
    uint32_t pairs;
    size_t changed; /* of compare_functions_finish: more than chance */
    bool sampled; /* samples estimate the counts */
    char event[64]; /* what is counted */
};

/* Adds a pair of runs.  Returns 0 or -ENOMEM. */
int compare_functions_add(struct compare_functions *functions, const struct diff *diff);

/* Computes the differences.  `exact`: runs do not vary, so that only sampling leaves a doubt. */
void compare_functions_finish(struct compare_functions *functions, bool exact);
void compare_functions_free(struct compare_functions *functions);
