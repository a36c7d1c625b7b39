/* Percentiles of a log-linear histogram. */
#include "host/draw/histogram.h"

#include <errno.h>
#include <stdlib.h>

int histogram_init(struct histogram *h)
{
    h->count = 0;
    h->largest = 0;
    h->buckets = calloc(HISTOGRAM_BUCKETS, sizeof h->buckets[0]);
    return h->buckets != NULL ? 0 : -ENOMEM;
}

void histogram_free(struct histogram *h)
{
    free(h->buckets);
    h->buckets = NULL;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
    uint32_t end = from->count != 0 ? histogram_bucket(from->largest) + 1 : 0;

    h->count += from->count;
    if (from->largest > h->largest)
        h->largest = from->largest;
    for (uint32_t i = 0; i < end; i++)
        h->buckets[i] += from->buckets[i];
}

uint64_t histogram_bucket_value(uint32_t bucket)
{
    uint32_t exponent, fraction;

    if (bucket < HISTOGRAM_EXACT)
        return bucket;
    bucket -= HISTOGRAM_EXACT;
    exponent = 16 + (bucket >> HISTOGRAM_FRACTION_BITS);
    fraction = bucket & ((1u << HISTOGRAM_FRACTION_BITS) - 1);
    return ((1ull << HISTOGRAM_FRACTION_BITS) + fraction) << (exponent - HISTOGRAM_FRACTION_BITS);
}

uint64_t histogram_percentile(const struct histogram *h, double share)
{
    uint64_t rank = (uint64_t)(share * (double)h->count);
    uint64_t below = 0;

    if ((double)rank < share * (double)h->count)
        rank++;
    if (rank == 0)
        rank = 1;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && h->count != 0; i++) {
        below += h->buckets[i];
        if (below >= rank)
            return histogram_bucket_value(i);
    }
    return h->largest;
}
