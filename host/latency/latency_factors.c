/* Computes how the parts of invocations go with their durations. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/latency/latency_detail.h"

struct ranked {
    uint64_t value;
    uint32_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

/* Equal values have the mean of their ranks. */
static void rank(const struct latency_detail *d, uint32_t column, struct ranked *sorted,
                 double *ranks)
{
    uint32_t count = d->sample_count;

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){d->sample[i][column], i};
    qsort(sorted, count, sizeof sorted[0], by_value);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].value == sorted[i].value;)
            end++;
        for (uint32_t n = i; n < end; n++)
            ranks[sorted[n].row] = (i + end - 1) / 2.0;
    }
}

/* Pearson's correlation; 0 if one of them is constant. */
static double correlate(const double *x, const double *y, uint32_t count)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;

    for (uint32_t i = 0; i < count; i++) {
        mean_x += x[i];
        mean_y += y[i];
    }
    if (count != 0) {
        mean_x /= count;
        mean_y /= count;
    }
    for (uint32_t i = 0; i < count; i++) {
        double dx = x[i] - mean_x, dy = y[i] - mean_y;

        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static bool is_there(const struct latency_detail *d, uint32_t column)
{
    if (column < LATENCY_FIRST_CALLEE)
        return true;
    if (column < LATENCY_FIRST_EVENT)
        return column - LATENCY_FIRST_CALLEE < d->callee_count;
    return column - LATENCY_FIRST_EVENT < d->event_count;
}

int latency_detail_finish(struct latency_detail *d)
{
    struct ranked *sorted = malloc((d->sample_count + 1u) * sizeof sorted[0]);

    if (sorted == NULL)
        return -ENOMEM;
    for (uint32_t column = 0; column < LATENCY_COLUMNS && d->sample_count != 0; column++) {
        for (uint32_t i = 0; i < d->sample_count; i++)
            sorted[i] = (struct ranked){d->sample[i][column], i};
        qsort(sorted, d->sample_count, sizeof sorted[0], by_value);
        d->medians[column] = sorted[(d->sample_count - 1) / 2].value;
    }
    free(sorted);
    return 0;
}

static int strongest_first(const void *a, const void *b)
{
    const struct latency_factor *x = a, *y = b;
    double dx = fabs(x->ranks), dy = fabs(y->ranks);

    if (dx != dy)
        return dx > dy ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

int latency_detail_factors(const struct latency_detail *d, struct latency_factor *factors)
{
    size_t count = d->sample_count + 1u;
    struct ranked *sorted = malloc(count * sizeof sorted[0]);
    double *room = malloc(4 * count * sizeof room[0]);
    double *ticks = room, *tick_ranks = room + count, *values = room + 2 * count;
    double *ranks = room + 3 * count;
    int n = 0;

    if (sorted == NULL || room == NULL) {
        free(sorted);
        free(room);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < d->sample_count; i++)
        ticks[i] = (double)d->sample[i][LATENCY_TICKS];
    rank(d, LATENCY_TICKS, sorted, tick_ranks);
    for (uint32_t column = LATENCY_TICKS + 1; column < LATENCY_COLUMNS; column++) {
        double line;

        if (!is_there(d, column))
            continue;
        for (uint32_t i = 0; i < d->sample_count; i++)
            values[i] = (double)d->sample[i][column];
        rank(d, column, sorted, ranks);
        line = correlate(values, ticks, d->sample_count);
        factors[n++] = (struct latency_factor){
            column, correlate(ranks, tick_ranks, d->sample_count), line * line, d->medians[column]};
    }
    qsort(factors, (size_t)n, sizeof factors[0], strongest_first);
    free(sorted);
    free(room);
    return n;
}
