/* Counts samples over time in bins that grow. */
#include "host/draw/rate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rate_init(struct rate *rate)
{
    rate->width_ticks = 1;
    rate->last = 0;
    rate->bins = calloc(RATE_BINS, sizeof rate->bins[0]);
    return rate->bins != NULL ? 0 : -ENOMEM;
}

void rate_free(struct rate *rate)
{
    free(rate->bins);
    rate->bins = NULL;
}

static void widen(struct rate *rate)
{
    for (size_t i = 0; i < RATE_BINS / 2; i++) {
        rate->bins[i].samples = rate->bins[2 * i].samples + rate->bins[2 * i + 1].samples;
        rate->bins[i].ticks = rate->bins[2 * i].ticks + rate->bins[2 * i + 1].ticks;
    }
    memset(&rate->bins[RATE_BINS / 2], 0, RATE_BINS / 2 * sizeof rate->bins[0]);
    rate->width_ticks *= 2;
}

void rate_add(struct rate *rate, uint64_t time, uint64_t ticks)
{
    struct rate_bin *bin;

    while (time / rate->width_ticks >= RATE_BINS) /* at most 52 times: time has 64 bits */
        widen(rate);
    if (time > rate->last)
        rate->last = time;
    bin = &rate->bins[time / rate->width_ticks];
    bin->samples++;
    bin->ticks += ticks;
}

double rate_hz(const struct rate *rate, uint64_t from, uint64_t ticks_per_second)
{
    double samples = 0, ticks = 0, hz;
    uint64_t first = from / rate->width_ticks + (from % rate->width_ticks != 0);

    for (uint64_t i = first; i < RATE_BINS; i++) {
        samples += (double)rate->bins[i].samples;
        ticks += (double)rate->bins[i].ticks;
    }
    hz = ticks > 0 ? samples * (double)ticks_per_second / ticks : 0;
    return hz < RATE_HZ_MAX ? hz : RATE_HZ_MAX;
}
