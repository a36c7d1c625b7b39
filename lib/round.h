/* Rounds to multiples. */
#pragma once

#include <stdint.h>

/* `alignment` is a power of two. */
static inline uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}
