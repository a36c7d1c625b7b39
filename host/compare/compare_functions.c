/* Adds up what hr diff says of each pair of runs. */
#include "host/compare/compare_functions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *x, const void *y)
{
    const struct diff_change *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->object, b->object);
}

static int order_of(const struct compare_function *f, const struct diff_change *place)
{
    int order = strcmp(f->name, place->name);

    return order != 0 ? order : strcmp(f->object, place->object);
}

static int begin(struct compare_function *f, const struct diff_change *place, uint32_t pairs)
{
    *f = (struct compare_function){.name = strdup(place->name), .object = strdup(place->object)};
    if (pairs == 0) {
        f->first[0] = (double)place->before;
        f->first[1] = (double)place->after;
    }
    return f->name != NULL && f->object != NULL ? 0 : -ENOMEM;
}

/* A NULL place: it counted nothing in this pair. */
static void add(struct compare_function *f, const struct diff *diff,
                const struct diff_change *place)
{
    const double values[] = {place != NULL ? (double)place->before : 0,
                             place != NULL ? (double)place->after : 0};

    for (int i = 0; i < 2; i++) {
        double off = values[i] - f->first[i];

        f->sums[i] += off;
        f->squares[i] += off * off;
    }
    if (place == NULL)
        return;
    f->in[0] |= place->in_before;
    f->in[1] |= place->in_after;
    f->chance += diff_chance(diff, place);
}

/* A function that earlier pairs did not have counted 0 there: its first values are 0. */
static int merge(struct compare_functions *all, struct compare_function *merged,
                 const struct diff *diff)
{
    size_t count = 0, i = 0;
    int error = 0;

    for (uint32_t k = 0; i < all->count || k < diff->place_count;) {
        const struct diff_change *place = k < diff->place_count ? &diff->places[k] : NULL;
        int order = i == all->count ? 1 : place == NULL ? -1 : order_of(&all->all[i], place);

        if (order <= 0)
            merged[count] = all->all[i++];
        else
            error |= begin(&merged[count], place, all->pairs);
        add(&merged[count++], diff, order >= 0 ? place : NULL);
        k += order >= 0;
    }
    all->count = count;
    return error;
}

int compare_functions_add(struct compare_functions *all, const struct diff *diff)
{
    struct compare_function *merged = calloc(all->count + diff->place_count + 1, sizeof merged[0]);
    char room[64];
    int error;

    if (merged == NULL)
        return -ENOMEM;
    qsort(diff->places, diff->place_count, sizeof diff->places[0], by_name);
    error = merge(all, merged, diff);
    free(all->all);
    all->all = merged;
    all->pairs++;
    all->sampled |= diff_is_sampled(diff);
    snprintf(all->event, sizeof all->event, "%s",
             diff->event < 0
                 ? "samples"
                 : trace_info_event_word(&diff->a->scan.info, (uint32_t)diff->event, room));
    return error != 0 ? -ENOMEM : 0;
}

static int by_change(const void *x, const void *y)
{
    const struct compare_function *a = x, *b = y;
    bool a_certain = trial_difference_is_certain(&a->difference);
    bool b_certain = trial_difference_is_certain(&b->difference);
    double left = fabs(a->difference.change), right = fabs(b->difference.change);
    int order;

    if (a_certain != b_certain)
        return b_certain - a_certain;
    if (left != right)
        return left > right ? -1 : 1;
    order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->object, b->object);
}

static void finish(struct compare_function *f, double pairs, bool exact)
{
    struct trial_difference *d = &f->difference;

    for (int i = 0; i < 2; i++) {
        d->counts[i] = (size_t)pairs;
        d->means[i] = f->first[i] + f->sums[i] / pairs;
        if (pairs > 1)
            d->variances[i] =
                fmax(0, (f->squares[i] - f->sums[i] * f->sums[i] / pairs) / (pairs - 1));
    }
    trial_difference_welch(d);
    if (!exact && pairs > 1)
        return;
    d->low = d->change - f->chance / pairs;
    d->high = d->change + f->chance / pairs;
    d->least = f->chance / pairs;
}

void compare_functions_finish(struct compare_functions *all, bool exact)
{
    for (size_t i = 0; i < all->count; i++) {
        finish(&all->all[i], all->pairs, exact);
        all->changed += trial_difference_is_certain(&all->all[i].difference);
    }
    if (all->count != 0)
        qsort(all->all, all->count, sizeof all->all[0], by_change);
}

void compare_functions_free(struct compare_functions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->all[i].name);
        free(all->all[i].object);
    }
    free(all->all);
    *all = (struct compare_functions){0};
}
