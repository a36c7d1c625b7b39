/* Least squares by the normal equations of standardised series, and their cross-validation. */
#include "host/sweep/show/sweep_fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define GAIN 0.005
#define BLOCKS ((size_t)4 * SWEEP_FOLDS) /* a block and its neighbours are in different folds */
#define RIDGE 1e-9 /* of equations whose solution is not unique */
#define SIZE (SWEEP_FIT_MAX + 1) /* the constant is the first unknown */

static size_t fold_of(size_t value, size_t values)
{
    return value * BLOCKS / values % SWEEP_FOLDS;
}

static void exchange(double *a, double *b)
{
    double kept = *a;

    *a = *b;
    *b = kept;
}

/* Brings the largest value of a column to its diagonal. */
static void pivot(double a[SIZE][SIZE], double *b, size_t size, size_t column)
{
    size_t found = column;

    for (size_t row = column + 1; row < size; row++)
        if (fabs(a[row][column]) > fabs(a[found][column]))
            found = row;
    for (size_t i = 0; i < size; i++)
        exchange(&a[column][i], &a[found][i]);
    exchange(&b[column], &b[found]);
}

/* Solves a * x = b by Gauss's elimination; what nothing determines is 0. */
static void solve(double a[SIZE][SIZE], double *b, size_t size, double *x)
{
    for (size_t i = 0; i < size; i++) {
        pivot(a, b, size, i);
        for (size_t row = i + 1; row < size && a[i][i] != 0; row++) {
            double factor = a[row][i] / a[i][i];

            for (size_t column = i; column < size; column++)
                a[row][column] -= factor * a[i][column];
            b[row] -= factor * b[i];
        }
    }
    for (size_t i = size; i-- > 0;) {
        x[i] = b[i];
        for (size_t column = i + 1; column < size; column++)
            x[i] -= a[i][column] * x[column];
        x[i] = a[i][i] != 0 ? x[i] / a[i][i] : 0;
    }
}

/* The model of the values that are not in a fold (SWEEP_FOLDS: of all). */
static void learn(const double *target, const double *const *by, size_t count, size_t values,
                  size_t fold, double *x)
{
    double a[SIZE][SIZE] = {{0}}, b[SIZE] = {0}, row[SIZE];
    size_t size = count + 1;

    for (size_t i = 0; i < values; i++) {
        if (fold_of(i, values) == fold)
            continue;
        row[0] = 1;
        for (size_t p = 0; p < count; p++)
            row[p + 1] = by[p][i];
        for (size_t p = 0; p < size; p++) {
            for (size_t q = 0; q < size; q++)
                a[p][q] += row[p] * row[q];
            b[p] += row[p] * target[i];
        }
    }
    for (size_t p = 1; p < size; p++)
        a[p][p] += RIDGE * (double)values;
    solve(a, b, size, x);
}

/* 1 less the share of the squares that predictions of left out values miss. */
static double quality(const double *target, const double *const *by, size_t count, size_t values)
{
    double missed = 0, all = 0, mean = 0, x[SIZE];

    for (size_t i = 0; i < values; i++)
        mean += target[i] / (double)values;
    for (size_t fold = 0; fold < SWEEP_FOLDS; fold++) {
        learn(target, by, count, values, fold, x);
        for (size_t i = 0; i < values; i++) {
            double guess = x[0];

            if (fold_of(i, values) != fold)
                continue;
            for (size_t p = 0; p < count; p++)
                guess += x[p + 1] * by[p][i];
            missed += (target[i] - guess) * (target[i] - guess);
            all += (target[i] - mean) * (target[i] - mean);
        }
    }
    return all > 0 ? 1 - missed / all : 0;
}

struct scaled { /* (series - mean) / deviation */
    double mean, deviation;
    double *values; /* owned */
};

static int scale(struct scaled *s, const double *series, size_t values)
{
    double squares = 0;

    *s = (struct scaled){.values = malloc((values + 1) * sizeof(double))};
    if (s->values == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < values; i++)
        s->mean += series[i] / (double)values;
    for (size_t i = 0; i < values; i++)
        squares += (series[i] - s->mean) * (series[i] - s->mean);
    s->deviation = values != 0 ? sqrt(squares / (double)values) : 0;
    for (size_t i = 0; i < values; i++)
        s->values[i] = s->deviation > 0 ? (series[i] - s->mean) / s->deviation : 0;
    return 0;
}

double sweep_fit_alone(const double *target, const double *candidate, size_t values)
{
    struct scaled t = {0}, c = {0};
    double found = 0;

    if (scale(&t, target, values) == 0 && scale(&c, candidate, values) == 0)
        found = quality(t.values, (const double *const[]){c.values}, 1, values);
    free(t.values);
    free(c.values);
    return found;
}

static bool is_chosen(const struct sweep_fit *fit, size_t candidate)
{
    for (size_t i = 0; i < fit->count; i++)
        if (fit->chosen[i] == candidate)
            return true;
    return false;
}

/* Adds the best candidate.  Returns false if none improves the model. */
static bool extend(const double *target, const struct scaled *c, size_t count, size_t values,
                   struct sweep_fit *fit)
{
    double best = fit->count != 0 ? fit->quality[fit->count - 1] + GAIN : GAIN;
    const double *by[SWEEP_FIT_MAX] = {NULL};
    size_t found = count;

    for (size_t i = 0; i < fit->count; i++)
        by[i] = c[fit->chosen[i]].values;
    for (size_t i = 0; i < count; i++) {
        double now;

        if (is_chosen(fit, i) || c[i].deviation <= 0)
            continue;
        by[fit->count] = c[i].values;
        now = quality(target, by, fit->count + 1, values);
        if (now > best) {
            best = now;
            found = i;
        }
    }
    if (found == count)
        return false;
    fit->chosen[fit->count] = found;
    fit->quality[fit->count++] = best;
    return true;
}

static void weigh(const struct scaled *t, const struct scaled *c, size_t values,
                  struct sweep_fit *fit)
{
    const double *by[SWEEP_FIT_MAX] = {NULL};
    double x[SIZE];

    for (size_t i = 0; i < fit->count; i++)
        by[i] = c[fit->chosen[i]].values;
    learn(t->values, by, fit->count, values, SWEEP_FOLDS, x);
    for (size_t i = 0; i < fit->count; i++)
        fit->weights[i] = x[i + 1] * t->deviation / c[fit->chosen[i]].deviation;
}

int sweep_fit(const double *target, const double *const *candidates, size_t count, size_t values,
              struct sweep_fit *fit)
{
    struct scaled *c = calloc(count + 1, sizeof c[0]), t = {0};
    int error = c != NULL ? scale(&t, target, values) : -ENOMEM;

    *fit = (struct sweep_fit){0};
    for (size_t i = 0; i < count && error == 0; i++)
        error = scale(&c[i], candidates[i], values);
    while (error == 0 && fit->count < SWEEP_FIT_MAX && extend(t.values, c, count, values, fit))
        continue;
    if (error == 0)
        weigh(&t, c, values, fit);
    for (size_t i = 0; i < count && c != NULL; i++)
        free(c[i].values);
    free(c);
    free(t.values);
    return error;
}
