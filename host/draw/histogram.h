/* Counts 64-bit values in constant memory: exact below 65536, within 0.1 % above. */
#pragma once

#include <stdint.h>

#define HISTOGRAM_EXACT 65536u /* values below have a bucket each */
#define HISTOGRAM_FRACTION_BITS 10 /* above, 1024 buckets for every power of two */
#define HISTOGRAM_BUCKETS (HISTOGRAM_EXACT + (48u << HISTOGRAM_FRACTION_BITS))

struct histogram {
    uint64_t count;
    uint64_t largest; /* exact; 0 when empty */
    uint64_t *buckets; /* HISTOGRAM_BUCKETS; owned */
};

/* Returns 0 or -ENOMEM. */
int histogram_init(struct histogram *h);
void histogram_free(struct histogram *h);

/* Adds what `from` counted. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/* Returns the least value v such that at least `share` (0 to 1) of the values are <= v; 0 if empty.
 */
uint64_t histogram_percentile(const struct histogram *h, double share);

/* Returns the least value that a bucket counts. */
uint64_t histogram_bucket_value(uint32_t bucket);

static inline uint32_t histogram_bucket(uint64_t value)
{
    uint32_t exponent;

    if (value < HISTOGRAM_EXACT)
        return (uint32_t)value;
    exponent = 63u - (uint32_t)__builtin_clzll(value); /* 16 .. 63 */
    return HISTOGRAM_EXACT + ((exponent - 16) << HISTOGRAM_FRACTION_BITS) +
           ((uint32_t)(value >> (exponent - HISTOGRAM_FRACTION_BITS)) &
            ((1u << HISTOGRAM_FRACTION_BITS) - 1));
}

static inline void histogram_add_many(struct histogram *h, uint64_t value, uint64_t times)
{
    h->count += times;
    if (value > h->largest)
        h->largest = value;
    h->buckets[histogram_bucket(value)] += times;
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
    histogram_add_many(h, value, 1);
}
