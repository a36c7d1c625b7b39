/* Rounds to multiples. */
#ifndef LIB_ROUND_H
#define LIB_ROUND_H

#include <stdint.h>

/* `alignment` is a power of two. */
static inline uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

#endif
