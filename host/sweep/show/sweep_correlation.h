/* How every event of a sweep correlates with every other, in an order in which those that are alike
 * stand together.  Never prints. */
#pragma once

#include "host/sweep/database/sweep_data.h"
#include "host/sweep/show/sweep_cluster.h"

struct sweep_correlation {
    const struct sweep_data *data;
    const struct sweep_measured **events; /* that changed from part to part, in that order; owned */
    size_t equal[SWEEP_CLUSTER_MAX]; /* other events that counted alike */
    size_t count;
    size_t left_out; /* beyond SWEEP_CLUSTER_MAX */
    size_t parts;
    double *correlations; /* count x count; owned */
};

/* 0 or -ENOMEM; sweep_correlation_free in any case. */
int sweep_correlation_make(struct sweep_correlation *p, const struct sweep_data *data);
void sweep_correlation_free(struct sweep_correlation *p);

/* The probability of such a correlation of independent parts, for people: "1.2e-05". */
#define SWEEP_CHANCE_BYTES 16
const char *sweep_correlation_chance(double correlation, size_t parts,
                                     char room[SWEEP_CHANCE_BYTES]);

/* The least correlation whose probability is below `chance`; more than 1: there is none. */
double sweep_correlation_least(double chance, size_t parts);

static inline double *sweep_correlation_of(const struct sweep_correlation *p, size_t a, size_t b)
{
    return &p->correlations[a * p->count + b];
}
