/* Pseudo-random numbers that need one word of state: a Weyl counter through a mixing function
 * (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
#pragma once

#include "lib/hash.h"

static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t x = *state += HASH_GOLDEN;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
