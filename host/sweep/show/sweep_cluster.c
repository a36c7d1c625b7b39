/* Average linkage by repeated search for the closest pair; each group is a list of its leaves. */
#include "host/sweep/show/sweep_cluster.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE ((size_t)-1)

struct group {
    size_t first, last; /* leaves */
    size_t leaves; /* 0: it was joined to another */
    size_t nearest; /* the most alike of the groups after it; NONE: there is none */
};

struct clusters {
    double *alike; /* between groups */
    size_t count;
    struct group *groups; /* owned */
    size_t *next; /* the leaf after a leaf in its group; owned */
};

static double *between(struct clusters *c, size_t a, size_t b)
{
    return &c->alike[a * c->count + b];
}

static void find_nearest(struct clusters *c, size_t group)
{
    size_t found = NONE;

    for (size_t i = group + 1; i < c->count; i++)
        if (c->groups[i].leaves != 0 &&
            (found == NONE || *between(c, group, i) > *between(c, group, found)))
            found = i;
    c->groups[group].nearest = found;
}

/* Joins b to a, which is before it. */
static void join(struct clusters *c, size_t a, size_t b)
{
    struct group *into = &c->groups[a], *from = &c->groups[b];
    double weight_a = (double)into->leaves, weight_b = (double)from->leaves;

    for (size_t i = 0; i < c->count; i++) {
        double both =
            (weight_a * *between(c, a, i) + weight_b * *between(c, b, i)) / (weight_a + weight_b);

        *between(c, a, i) = *between(c, i, a) = both;
    }
    c->next[into->last] = from->first;
    into->last = from->last;
    into->leaves += from->leaves;
    from->leaves = 0;
}

/* Joins the most alike pair.  Returns false if there is one group. */
static bool step(struct clusters *c)
{
    size_t a = NONE, b;

    for (size_t i = 0; i < c->count; i++) {
        const struct group *g = &c->groups[i];

        if (g->leaves != 0 && g->nearest != NONE &&
            (a == NONE || *between(c, i, g->nearest) > *between(c, a, c->groups[a].nearest)))
            a = i;
    }
    if (a == NONE)
        return false;
    b = c->groups[a].nearest;
    join(c, a, b);
    for (size_t i = 0; i < b; i++)
        if (c->groups[i].leaves != 0 &&
            (i == a || c->groups[i].nearest == a || c->groups[i].nearest == b))
            find_nearest(c, i);
    return true;
}

int sweep_cluster(double *correlations, size_t count, size_t *order)
{
    struct clusters c = {.alike = correlations, .count = count};
    size_t at = 0;

    c.groups = calloc(count + 1, sizeof c.groups[0]);
    c.next = calloc(count + 1, sizeof c.next[0]);
    for (size_t i = 0; i < count && c.groups != NULL && c.next != NULL; i++) {
        c.groups[i] = (struct group){.first = i, .last = i, .leaves = 1};
        c.next[i] = NONE;
    }
    if (c.groups != NULL && c.next != NULL) {
        for (size_t i = 0; i < count; i++)
            find_nearest(&c, i);
        while (step(&c))
            continue;
        for (size_t i = count != 0 ? c.groups[0].first : NONE; i != NONE; i = c.next[i])
            order[at++] = i;
    }
    free(c.groups);
    free(c.next);
    return at == count ? 0 : -ENOMEM;
}
