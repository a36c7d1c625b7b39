/* A cache of the frames of addresses, in bounded memory.  For host/symbols/symbols.c. */
#pragma once

#include "host/symbols/symbols.h"

struct symbols_cache;

/* Returns NULL if out of memory. */
struct symbols_cache *symbols_cache_new(void);
void symbols_cache_free(struct symbols_cache *cache);

/* Copies the frames of an address.  Returns how many, 0 if it is not in the cache. */
uint32_t symbols_cache_get(const struct symbols_cache *cache, uint64_t address,
                           struct symbols_frame frames[SYMBOLS_FRAMES_MAX]);
void symbols_cache_put(struct symbols_cache *cache, uint64_t address,
                       const struct symbols_frame *frames, uint32_t count);
