/* Computes samples per second of the program's own time: over a run, and over its second half.
 *
 * Samples are counted in bins over the run's time.  The bins' width doubles when the run outgrows
 * them, so memory is constant.  Times are ticks since the program's start.
 */
#pragma once

#include <stdint.h>

#define RATE_BINS 4096u
#define RATE_HZ_MAX 1e18 /* limit for forged clocks: a higher rate might not fit 64 bits */

struct rate_bin {
    uint64_t samples;
    uint64_t ticks; /* running time of the program that led to these samples */
};

struct rate {
    uint64_t width_ticks; /* of a bin; a power of two */
    uint64_t last; /* latest time added */
    struct rate_bin *bins; /* RATE_BINS; owned */
};

/* Returns 0 or -ENOMEM. */
int rate_init(struct rate *rate);
void rate_free(struct rate *rate);

/* Adds a sample at `time`, for which the program ran `ticks` since the previous sample. */
void rate_add(struct rate *rate, uint64_t time, uint64_t ticks);

/* Returns the samples per second of running time after `from`, at most RATE_HZ_MAX; 0 if there are
 * none.  A bin that begins before `from` does not count. */
double rate_hz(const struct rate *rate, uint64_t from, uint64_t ticks_per_second);
