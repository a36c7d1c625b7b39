/* Keeps values until the memory for them is used up, then counts those of the largest set. */
#include "host/latency/latency_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_ROOM 64u

static void unlink_values(struct latency_values_pool *pool, struct latency_values *values)
{
    if (values->room == 0)
        return;
    if (values->next != NULL)
        values->next->before = values->before;
    if (values->before != NULL)
        values->before->next = values->next;
    else
        pool->first = values->next;
    pool->bytes -= values->room * sizeof values->kept[0];
    free(values->kept);
    values->kept = NULL;
    values->room = 0;
}

void latency_values_free(struct latency_values_pool *pool, struct latency_values *values)
{
    unlink_values(pool, values);
    if (values->histogram != NULL)
        histogram_free(values->histogram);
    free(values->histogram);
    *values = (struct latency_values){0};
}

static int convert(struct latency_values_pool *pool, struct latency_values *values)
{
    struct histogram *histogram = malloc(sizeof *histogram);

    if (histogram == NULL || histogram_init(histogram) != 0) {
        free(histogram);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < values->count; i++)
        histogram_add(histogram, values->kept[i]);
    unlink_values(pool, values);
    values->histogram = histogram;
    return 0;
}

static int make_room(struct latency_values_pool *pool, struct latency_values *values)
{
    size_t limit = pool->limit != 0 ? pool->limit : LATENCY_VALUES_BYTES;
    size_t room = values->room != 0 ? 2 * values->room : FIRST_ROOM;
    size_t more = (room - values->room) * sizeof values->kept[0];
    uint64_t *kept;

    while (pool->bytes + more > limit) {
        struct latency_values *largest = values;

        for (struct latency_values *v = pool->first; v != NULL; v = v->next)
            largest = v->room > largest->room ? v : largest;
        if (convert(pool, largest) != 0)
            return -ENOMEM;
        if (largest == values)
            return 0;
    }
    kept = realloc(values->kept, room * sizeof kept[0]);
    if (kept == NULL)
        return -ENOMEM;
    if (values->room == 0) {
        values->next = pool->first;
        values->before = NULL;
        if (values->next != NULL)
            values->next->before = values;
        pool->first = values;
    }
    values->kept = kept;
    values->room = room;
    pool->bytes += more;
    return 0;
}

int latency_values_add(struct latency_values_pool *pool, struct latency_values *values,
                       uint64_t value)
{
    if (values->histogram == NULL && values->count == values->room) {
        int error = make_room(pool, values);

        if (error != 0)
            return error;
    }
    if (values->histogram != NULL)
        histogram_add(values->histogram, value);
    else
        values->kept[values->count] = value;
    values->sorted = false;
    values->count++;
    values->largest = value > values->largest ? value : values->largest;
    if (__builtin_add_overflow(values->sum, value, &values->sum))
        values->sum = UINT64_MAX;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t latency_values_at(struct latency_values *values, double share)
{
    double rank = ceil(share * (double)values->count - 1e-9);

    if (values->count == 0)
        return 0;
    if (values->histogram != NULL)
        return histogram_percentile(values->histogram, share);
    if (!values->sorted)
        qsort(values->kept, values->count, sizeof values->kept[0], by_value);
    values->sorted = true;
    if (rank < 1)
        rank = 1;
    if (rank > (double)values->count)
        rank = (double)values->count;
    return values->kept[(uint64_t)rank - 1];
}
