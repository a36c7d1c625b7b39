/* Runs a program alone on a CPU, or with another one on a second CPU, and reads what it took. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/pair/pair_place.h"
#include "include/hr_format.h"

#define PAIR_REPEAT_MAX 1000u

struct pair_program {
    char **words; /* with its arguments */
    size_t count;
};

struct pair_plan {
    struct pair_program programs[2];
    char **options; /* of hr run */
    size_t option_count;
    uint64_t repeat;
    char folder[256]; /* for traces */
};

struct pair_figures { /* medians over the runs */
    double time_ns; /* of the program */
    double totals[HR_EVENTS_MAX];
    double company; /* share of the time in which the other program ran; 1: all of it */
};

struct pair_measured { /* a program at a place */
    struct pair_figures alone, together;
    char names[HR_EVENTS_MAX][64]; /* raw */
    size_t events; /* those of performance counters come first, and no others */
};

/* Measures program `which` of the plan at its CPU of the place.  Returns 0, or -1 with the failure
 * filled. */
int pair_measure(const struct pair_plan *plan, const struct pair_place *place, int which,
                 struct pair_measured *measured, struct run_failure *failure);
