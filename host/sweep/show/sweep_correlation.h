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

static inline double *sweep_correlation_of(const struct sweep_correlation *p, size_t a, size_t b)
{
    return &p->correlations[a * p->count + b];
}
