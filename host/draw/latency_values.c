/* Keeps values until the memory for them is used up, then counts those of the largest set. */
#include "host/draw/latency_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_ROOM 64u
#define MANY (HISTOGRAM_BUCKETS / 2) /* values, for which a histogram is worth its memory */

static void drop_kept(struct latency_values_pool *pool, struct latency_values *values)
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
    values->kept_count = values->room = 0;
}

void latency_values_free(struct latency_values_pool *pool, struct latency_values *values)
{
    drop_kept(pool, values);
    if (values->histogram != NULL)
        histogram_free(values->histogram);
    free(values->histogram);
    *values = (struct latency_values){0};
}

/* Counts those that are kept: all, or the small ones. */
static int count_kept(struct latency_values *values, bool all)
{
    size_t kept = 0;

    if (values->histogram == NULL) {
        struct histogram *histogram = malloc(sizeof *histogram);

        if (histogram == NULL || histogram_init(histogram) != 0) {
            free(histogram);
            return -ENOMEM;
        }
        values->histogram = histogram;
    }
    for (size_t i = 0; i < values->kept_count; i++)
        if (all || values->kept[i] < HISTOGRAM_EXACT)
            histogram_add(values->histogram, values->kept[i]);
        else
            values->kept[kept++] = values->kept[i];
    values->kept_count = kept;
    return 0;
}

/* Takes the largest set's values away from memory until `more` bytes are free. */
static int free_memory(struct latency_values_pool *pool, struct latency_values *values, size_t more)
{
    size_t limit = pool->limit != 0 ? pool->limit : LATENCY_VALUES_BYTES;

    while (pool->bytes + more > limit && !values->rounded) {
        struct latency_values *largest = values;

        for (struct latency_values *v = pool->first; v != NULL; v = v->next)
            largest = v->room > largest->room ? v : largest;
        if (count_kept(largest, true) != 0)
            return -ENOMEM;
        largest->rounded = true;
        drop_kept(pool, largest);
    }
    return 0;
}

/* Makes room for one more value that is kept, unless the values become rounded. */
static int make_room(struct latency_values_pool *pool, struct latency_values *values)
{
    size_t room = values->room != 0 ? 2 * values->room : FIRST_ROOM;
    size_t more = (room - values->room) * sizeof values->kept[0];
    uint64_t *kept;

    if (values->histogram == NULL && values->room >= MANY) {
        if (count_kept(values, false) != 0)
            return -ENOMEM;
        if (values->kept_count < values->room / 2)
            return 0;
    }
    if (free_memory(pool, values, more) != 0)
        return -ENOMEM;
    if (values->rounded)
        return 0;
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

static bool is_counted(const struct latency_values *values, uint64_t value)
{
    return values->histogram != NULL && (value < HISTOGRAM_EXACT || values->rounded);
}

int latency_values_add(struct latency_values_pool *pool, struct latency_values *values,
                       uint64_t value)
{
    if (!is_counted(values, value) && values->kept_count == values->room) {
        int error = make_room(pool, values);

        if (error != 0)
            return error;
    }
    if (is_counted(values, value)) {
        histogram_add(values->histogram, value);
    } else {
        values->kept[values->kept_count++] = value;
        values->sorted = false;
    }
    values->count++;
    values->largest = value > values->largest ? value : values->largest;
    latency_values_sum(&values->sum, value);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* What is counted is less than what is kept. */
uint64_t latency_values_at(struct latency_values *values, double share)
{
    uint64_t counted = values->histogram != NULL ? values->histogram->count : 0;
    double wanted = ceil(share * (double)values->count - 1e-9);
    uint64_t rank = wanted >= 1 ? (uint64_t)wanted : 1;

    if (values->count == 0)
        return 0;
    if (rank > values->count)
        rank = values->count;
    if (rank <= counted)
        return histogram_percentile(values->histogram, ((double)rank - 0.5) / (double)counted);
    if (!values->sorted)
        qsort(values->kept, values->kept_count, sizeof values->kept[0], by_value);
    values->sorted = true;
    return values->kept[rank - counted - 1];
}
