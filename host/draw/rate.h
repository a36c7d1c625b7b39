/* How many samples a second of the program's own time: over a run, and over its second half.
 *
 * Counts in bins over the run's time, whose width doubles when the run outgrows them, so memory is
 * constant.  Times are ticks since the program's start.
 */
#ifndef HOST_DRAW_RATE_H
#define HOST_DRAW_RATE_H

#include <stdint.h>

#define RATE_BINS 4096u
#define RATE_HZ_MAX 1e18 /* a forged clock makes no rate that does not fit 64 bits */

struct rate_bin {
    uint64_t samples;
    uint64_t ticks; /* that the program ran up to these samples, each since the one before */
};

struct rate {
    uint64_t width_ticks; /* of a bin; a power of two */
    uint64_t last; /* latest time that was added */
    struct rate_bin *bins; /* RATE_BINS; owned */
};

/* 0 or -ENOMEM. */
int rate_init(struct rate *rate);
void rate_free(struct rate *rate);

/* A sample at `time`, after the program ran for `ticks` since the one before. */
void rate_add(struct rate *rate, uint64_t time, uint64_t ticks);

/* Samples a second of running time from a time on, at most RATE_HZ_MAX; 0 when there are none.  A
 * bin that begins before `from` does not count.
 */
double rate_hz(const struct rate *rate, uint64_t from, uint64_t ticks_per_second);

#endif
