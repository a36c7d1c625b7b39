/* Arithmetic of repeating timers.  Context: any. */
#pragma once

#include <stdint.h>

#define PROGRAM_TIMER_NS_MAX (1ull << 62) /* later than any run lasts */

/* Moves *due by whole intervals to after `now`, by one if it is later already.  Returns the number
 * of intervals.  Saturates at UINT64_MAX. */
static inline uint64_t program_timer_forward(uint64_t *due, uint64_t interval, uint64_t now)
{
    uint64_t passed = now >= *due ? now - *due : 0;
    uint64_t intervals = passed / interval + 1;
    uint64_t step;

    if (__builtin_mul_overflow(intervals, interval, &step) ||
        __builtin_add_overflow(*due, step, due))
        *due = UINT64_MAX;
    return intervals;
}
