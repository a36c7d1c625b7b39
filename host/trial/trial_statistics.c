/* Means with intervals, outliers, and correlations. */
#include "host/trial/trial_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "lib/splitmix.h"

#define RESAMPLES 2000u
#define SEED 1
#define OUTLIER 3.5
#define MODIFIED_Z 0.6745 /* the 0.75 quantile of the normal distribution */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double median_of(const double *sorted, size_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void bootstrap(const double *values, struct trial_spread *s)
{
    static double means[RESAMPLES];
    uint64_t state = SEED;

    for (size_t i = 0; i < RESAMPLES; i++) {
        double sum = 0;

        for (size_t j = 0; j < s->count; j++)
            sum += values[splitmix_next(&state) % s->count];
        means[i] = sum / (double)s->count;
    }
    qsort(means, RESAMPLES, sizeof means[0], compare);
    s->low = means[RESAMPLES / 40]; /* 2.5 % */
    s->high = means[RESAMPLES - 1 - RESAMPLES / 40];
}

/* Where more than half of the values are equal, the median deviation is 0: every other value is an
 * outlier then. */
static size_t outliers(const double *sorted, size_t count, double median, double *distance)
{
    double *off = malloc(count * sizeof off[0]), scale;
    size_t found = 0;

    if (off == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        off[i] = fabs(sorted[i] - median);
    qsort(off, count, sizeof off[0], compare);
    scale = median_of(off, count);
    *distance = OUTLIER * scale / MODIFIED_Z;
    for (size_t i = 0; i < count; i++)
        found += fabs(sorted[i] - median) > *distance;
    free(off);
    return found;
}

void trial_spread_of(double *values, size_t count, struct trial_spread *s)
{
    double squares = 0;

    *s = (struct trial_spread){.count = count};
    if (count == 0)
        return;
    qsort(values, count, sizeof values[0], compare);
    s->mean = s->low = s->high = mean_of(values, count);
    s->median = median_of(values, count);
    if (values[0] == values[count - 1])
        return;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - s->mean) * (values[i] - s->mean);
    s->deviation = s->mean != 0 ? sqrt(squares / (double)(count - 1)) / fabs(s->mean) : 0;
    bootstrap(values, s);
    if (count > 2)
        s->outliers = outliers(values, count, s->median, &s->outlier_distance);
}

double trial_correlation(const double *a, const double *b, size_t count)
{
    double mean_a = mean_of(a, count), mean_b = mean_of(b, count);
    double aa = 0, bb = 0, ab = 0;

    for (size_t i = 0; i < count; i++) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 / fmax(fabs(1 - (a + b) * x / (a + 1)), tiny), h;

    if (1 - (a + b) * x / (a + 1) < 0)
        d = -d;
    h = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-12)
            break;
    }
    return h;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double trial_significance(double r, size_t count)
{
    double freedom = (double)count - 2;

    if (count < 3)
        return 1;
    if (fabs(r) >= 1)
        return 0;
    return beta(freedom / 2, 0.5, 1 - r * r);
}

double trial_student(double share, double freedom)
{
    double low = 0, high = 1e6;

    for (int i = 0; i < 80; i++) {
        double t = (low + high) / 2;
        double above = beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;

        *(1 - above < share ? &low : &high) = t;
    }
    return (low + high) / 2;
}
