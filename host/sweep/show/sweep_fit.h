/* Linear models of one series by others, judged by cross-validation.  Never prints. */
#pragma once

#include <stddef.h>

#define SWEEP_FIT_MAX 6u /* predictors of a model */
#define SWEEP_FOLDS 5u

struct sweep_fit {
    size_t chosen[SWEEP_FIT_MAX]; /* numbers of the candidates, in the order of their choice */
    double quality[SWEEP_FIT_MAX]; /* of the model with this and all candidates before it */
    double weights[SWEEP_FIT_MAX]; /* of the whole model: target counts for each count */
    size_t count;
};

/* Returns how well a linear model of `target` by the candidate alone predicts what it has not seen:
 * 1: exactly; 0 or less: no better than the mean.  Blocks of neighbouring values are left out
 * together, SWEEP_FOLDS times. */
double sweep_fit_alone(const double *target, const double *candidate, size_t values);

/* Adds one candidate after the other to a model, the best first, as long as each improves its
 * prediction of what it has not seen by at least 0.005.  Returns 0 or -ENOMEM. */
int sweep_fit(const double *target, const double *const *candidates, size_t count, size_t values,
              struct sweep_fit *fit);
