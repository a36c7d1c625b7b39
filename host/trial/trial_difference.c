/* The difference of two means, with its interval and what it takes to see one. */
#include "host/trial/trial_difference.h"

#include <math.h>
#include <stdlib.h>

#include "host/trial/trial_statistics.h"
#include "lib/splitmix.h"

#define RESAMPLES 2000u
#define SEED 1
#define NORMAL_975 1.959964 /* quantiles of the normal distribution */
#define NORMAL_800 0.841621
#define RUNS_MAX 1000000u

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void moments(const double *values, size_t count, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t i = 0; i < count; i++)
        *mean += values[i] / (double)count;
    for (size_t i = 0; i < count && count > 1; i++)
        *variance += (values[i] - *mean) * (values[i] - *mean) / (double)(count - 1);
}

static double resample(const double *values, size_t count, uint64_t *state)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[splitmix_next(state) % count];
    return sum / (double)count;
}

/* The squared standard error of a side's mean. */
static double error_of(const struct trial_difference *d, int side)
{
    return d->variances[side] / (double)d->counts[side];
}

/* Welch and Satterthwaite's degrees of freedom. */
static double freedom_of(const struct trial_difference *d)
{
    double a = error_of(d, 0), b = error_of(d, 1);
    double divisor = a * a / (double)(d->counts[0] - 1) + b * b / (double)(d->counts[1] - 1);

    return divisor > 0 ? (a + b) * (a + b) / divisor : 1;
}

/* One value on a side says nothing about chance. */
static bool is_unbounded(struct trial_difference *d)
{
    if (d->counts[0] > 1 && d->counts[1] > 1)
        return false;
    d->low = -INFINITY;
    d->high = d->least = INFINITY;
    return true;
}

void trial_difference_exact(double before, double after, struct trial_difference *d)
{
    *d = (struct trial_difference){.counts = {1, 1}, .means = {before, after}};
    d->change = d->low = d->high = after - before;
}

void trial_difference_welch(struct trial_difference *d)
{
    double error, freedom, t;

    d->change = d->low = d->high = d->means[1] - d->means[0];
    d->least = 0;
    if (is_unbounded(d))
        return;
    error = sqrt(error_of(d, 0) + error_of(d, 1));
    if (error == 0)
        return;
    freedom = freedom_of(d);
    t = trial_student(0.975, freedom);
    d->low = d->change - t * error;
    d->high = d->change + t * error;
    d->least = (t + trial_student(0.8, freedom)) * error;
}

void trial_difference_of(const double *before, size_t before_count, const double *after,
                         size_t after_count, struct trial_difference *d)
{
    static double changes[RESAMPLES];
    size_t fewer = before_count < after_count ? before_count : after_count;
    uint64_t state = SEED;
    double wider;

    *d = (struct trial_difference){.counts = {before_count, after_count}};
    moments(before, before_count, &d->means[0], &d->variances[0]);
    moments(after, after_count, &d->means[1], &d->variances[1]);
    trial_difference_welch(d);
    if (d->low == d->high || isinf(d->low))
        return;
    for (size_t i = 0; i < RESAMPLES; i++)
        changes[i] = resample(after, after_count, &state) - resample(before, before_count, &state);
    qsort(changes, RESAMPLES, sizeof changes[0], compare);
    wider = trial_student(0.975, freedom_of(d)) / NORMAL_975 *
            sqrt((double)fewer / (double)(fewer - 1));
    d->low = d->change + wider * (changes[RESAMPLES / 40] - d->change);
    d->high = d->change + wider * (changes[RESAMPLES - 1 - RESAMPLES / 40] - d->change);
}

bool trial_difference_is_certain(const struct trial_difference *d)
{
    return d->low > 0 || d->high < 0;
}

uint64_t trial_difference_runs(const struct trial_difference *d, double share)
{
    double wanted = fabs(share * d->means[0]), variance = d->variances[0] + d->variances[1];
    double factor = NORMAL_975 + NORMAL_800, runs = 2;

    if (variance == 0)
        return 1;
    for (int i = 0; i < 20; i++) {
        double needed =
            wanted > 0 ? ceil(factor * factor * variance / (wanted * wanted)) : RUNS_MAX;

        needed = fmin(fmax(needed, 2), RUNS_MAX);
        if (needed == runs)
            break;
        runs = i == 0 || needed > runs ? needed : runs; /* few values need more than many */
        factor = trial_student(0.975, 2 * runs - 2) + trial_student(0.8, 2 * runs - 2);
    }
    return (uint64_t)runs;
}
