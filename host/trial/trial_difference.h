/* How far the means of two programs' repeated measurements are apart.  Deterministic; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trial_difference { /* after less before */
    size_t counts[2]; /* of values, before and after */
    double means[2];
    double change; /* of the means */
    double low, high; /* of it: 95 % */
    double least; /* the smallest change that so many values show four times out of five */
    double variances[2]; /* of single values */
};

/* Compares values; those of each side in any order.  The interval is the bootstrap's (2,000
 * resamples of each side), wider by what few values need: Student's t with Welch's degrees of
 * freedom for the normal distribution, and n - 1 for n (Hesterberg, "What Teachers Should Know
 * About the Bootstrap", 2015, section 5.3).  It has no end, -INFINITY and INFINITY, where a side
 * has one value only; see trial_difference_exact. */
void trial_difference_of(const double *before, size_t before_count, const double *after,
                         size_t after_count, struct trial_difference *difference);

/* The difference of two exact values, or of two means where nothing varies. */
void trial_difference_exact(double before, double after, struct trial_difference *difference);

/* Computes it from counts, means and variances alone, without resamples: Welch's interval. */
void trial_difference_welch(struct trial_difference *difference);

/* Whether the interval does not hold 0: the change is more than chance. */
bool trial_difference_is_certain(const struct trial_difference *difference);

/* Returns how many values of each side show a change by `share` of the mean before, four times out
 * of five; 2 at least, 1 where nothing varies. */
uint64_t trial_difference_runs(const struct trial_difference *difference, double share);
