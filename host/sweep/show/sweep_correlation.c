/* Chooses the events of a picture, and puts those that are alike together. */
#include "host/sweep/show/sweep_correlation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void correlate(struct sweep_correlation *p)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j <= i; j++)
            *sweep_correlation_of(p, i, j) = *sweep_correlation_of(p, j, i) =
                i == j ? 1
                       : trial_correlation(p->events[i]->series, p->events[j]->series, p->parts);
}

static bool changes(const struct sweep_measured *e, size_t parts)
{
    for (size_t i = 1; i < parts; i++)
        if (e->series[i] != e->series[0])
            return true;
    return false;
}

/* Returns whether an event that counted alike is drawn already, and counts it there. */
static bool is_drawn(struct sweep_correlation *p, const struct sweep_measured *e)
{
    for (size_t i = 0; i < p->count; i++)
        if (sweep_data_alike(p->events[i], e, p->parts)) {
            p->equal[i]++;
            return true;
        }
    return false;
}

static int choose(struct sweep_correlation *p)
{
    const struct sweep_data *d = p->data;

    p->parts = sweep_whole_parts(d);
    p->events = calloc(SWEEP_CLUSTER_MAX, sizeof(void *));
    for (size_t i = 0; i + 1 < d->event_count && p->events != NULL; i++) {
        const struct sweep_measured *e = &d->events[i];

        if (!sweep_data_counted(e) || !changes(e, p->parts) || is_drawn(p, e))
            continue;
        if (p->count < SWEEP_CLUSTER_MAX)
            p->events[p->count++] = e;
        else
            p->left_out++;
    }
    p->correlations = calloc(p->count * p->count + 1, sizeof p->correlations[0]);
    return p->events != NULL && p->correlations != NULL ? 0 : -ENOMEM;
}

static int arrange(struct sweep_correlation *p)
{
    const struct sweep_correlation before = *p;
    const struct sweep_measured *unsorted[SWEEP_CLUSTER_MAX];
    size_t *order = calloc(p->count + 1, sizeof order[0]);
    int error;

    if (order == NULL)
        return -ENOMEM;
    correlate(p);
    error = sweep_cluster(p->correlations, p->count, order);
    memcpy(unsorted, p->events, p->count * sizeof(void *));
    for (size_t i = 0; i < p->count && error == 0; i++) {
        p->events[i] = unsorted[order[i]];
        p->equal[i] = before.equal[order[i]];
    }
    free(order);
    correlate(p);
    return error;
}

int sweep_correlation_make(struct sweep_correlation *p, const struct sweep_data *data)
{
    int error;

    *p = (struct sweep_correlation){.data = data};
    error = choose(p);
    return error == 0 && p->count >= 2 ? arrange(p) : error;
}

void sweep_correlation_free(struct sweep_correlation *p)
{
    free(p->events);
    free(p->correlations);
    p->events = NULL;
    p->correlations = NULL;
}

const char *sweep_correlation_chance(double correlation, size_t parts,
                                     char room[SWEEP_CHANCE_BYTES])
{
    double chance = trial_significance(correlation, parts);

    snprintf(room, SWEEP_CHANCE_BYTES, chance < 1e-99 ? "< 1e-99" : "%.1e", chance);
    return room;
}

double sweep_correlation_least(double chance, size_t parts)
{
    int hundredth = 1;

    while (hundredth <= 100 && trial_significance(hundredth / 100.0, parts) >= chance)
        hundredth++;
    return hundredth / 100.0;
}
