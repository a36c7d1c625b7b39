/* Statistics of repeated measurements.  Deterministic; never prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trial_spread {
    size_t count;
    double mean;
    double low, high; /* of the mean: 95 %, by the bootstrap; both the mean where count is 1 */
    double deviation; /* of a single value, a share of the mean (coefficient of variation) */
    double median;
    size_t outliers; /* values further than 3.5 times the median deviation from the median */
    double outlier_distance; /* from the median, beyond which a value is one; of three values on */
};

/* Summarises `count` values, which it sorts.  The bootstrap is Efron's: percentiles of the means of
 * 2,000 resamples (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
 * Outliers are Iglewicz and Hoaglin's: modified z-scores above 3.5 ("How to Detect and Handle
 * Outliers", 1993). */
void trial_spread_of(double *values, size_t count, struct trial_spread *spread);

/* Returns Pearson's correlation of two series; 0 where one of them does not change. */
double trial_correlation(const double *a, const double *b, size_t count);

/* Returns the probability that series of `count` independent values without correlation have one at
 * least as large as r, by Student's t with count - 2 degrees of freedom. */
double trial_significance(double r, size_t count);

/* Returns the quantile of Student's t, for 0.5 <= share < 1 and 1 or more degrees of freedom. */
double trial_student(double share, double freedom);
