/* The caches of the calling CPU, from CPUID. */
#pragma once

#include <stdint.h>

enum cache_type { CACHE_NONE, CACHE_DATA, CACHE_INSTRUCTIONS, CACHE_BOTH };

struct cache {
    uint32_t level;
    uint32_t type; /* enum cache_type */
    uint32_t line, partitions, ways, sets;
    uint32_t threads; /* that may share it, at most; 0: unknown */
};

/* Cache number `index`, from 0 on; type CACHE_NONE past the last one. */
struct cache caches_get(uint32_t index);

uint32_t caches_kib(const struct cache *cache);
