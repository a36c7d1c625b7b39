/* An order of series in which those that are alike stand together. */
#pragma once

#include <stddef.h>

#define SWEEP_CLUSTER_MAX 1000u

/* `correlations` has count x count values, and is changed.  Joins the two groups that are most
 * alike, on average, until one is left (Sokal and Michener's average linkage), and writes the
 * numbers of the series in the order of its leaves.  count is at most SWEEP_CLUSTER_MAX.  Returns 0
 * or -ENOMEM. */
int sweep_cluster(double *correlations, size_t count, size_t *order);
