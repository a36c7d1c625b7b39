/* Values of which percentiles are wanted.  They are exact: small ones are counted, large ones are
 * kept one by one until the memory for that is used up, and then counted within 0.1 %.  Count, sum
 * and largest are always exact. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/draw/histogram.h"

#define LATENCY_VALUES_BYTES (64u << 20) /* of all values that are kept one by one */

struct latency_values {
    uint64_t count, sum, largest; /* the sum saturates */
    uint64_t *kept; /* owned, as the next one */
    struct histogram *histogram; /* of values below HISTOGRAM_EXACT, or of all; NULL at first */
    size_t kept_count, room;
    bool sorted; /* what is kept */
    bool rounded; /* the histogram counts all */
    struct latency_values *next, *before; /* others that share the memory */
};

struct latency_values_pool { /* all zero at first */
    struct latency_values *first;
    size_t bytes;
    size_t limit; /* 0: LATENCY_VALUES_BYTES */
};

/* Returns 0 or -ENOMEM.  The values are all zero before the first one, and must not move. */
int latency_values_add(struct latency_values_pool *pool, struct latency_values *values,
                       uint64_t value);
void latency_values_free(struct latency_values_pool *pool, struct latency_values *values);

/* Adds to a sum, which saturates. */
static inline void latency_values_sum(uint64_t *sum, uint64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = UINT64_MAX;
}

/* Returns the least value v such that at least `share` (0 to 1) of the values are <= v; 0 if empty.
 */
uint64_t latency_values_at(struct latency_values *values, double share);

/* Returns whether the percentiles are exact. */
static inline bool latency_values_exact(const struct latency_values *values)
{
    return !values->rounded || values->largest < HISTOGRAM_EXACT;
}
