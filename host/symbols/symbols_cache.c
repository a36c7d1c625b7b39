/* Keeps frames in a hash table, which is cleared when it is full. */
#include "host/symbols/symbols_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define BITS 17u
#define SLOTS (1u << BITS)
#define ADDRESSES_MAX (SLOTS / 4 * 3)
#define FRAMES_MAX (SLOTS * 2u) /* 8 MB */

struct slot {
    uint64_t address;
    uint32_t first; /* of its frames */
    uint32_t count; /* 0: free */
};

struct symbols_cache {
    uint32_t used;
    uint32_t frame_count;
    struct slot slots[SLOTS];
    struct symbols_frame frames[FRAMES_MAX];
};

struct symbols_cache *symbols_cache_new(void)
{
    return calloc(1, sizeof(struct symbols_cache));
}

void symbols_cache_free(struct symbols_cache *cache)
{
    free(cache);
}

/* Returns the slot of an address, or a free one for it. */
static uint32_t find(const struct symbols_cache *cache, uint64_t address)
{
    uint32_t i = hash_place(address, BITS);

    while (cache->slots[i].count != 0 && cache->slots[i].address != address)
        i = (i + 1) & (SLOTS - 1);
    return i;
}

uint32_t symbols_cache_get(const struct symbols_cache *cache, uint64_t address,
                           struct symbols_frame frames[SYMBOLS_FRAMES_MAX])
{
    const struct slot *slot = &cache->slots[find(cache, address)];

    memcpy(frames, cache->frames + slot->first, slot->count * sizeof frames[0]);
    return slot->count;
}

void symbols_cache_put(struct symbols_cache *cache, uint64_t address,
                       const struct symbols_frame *frames, uint32_t count)
{
    uint32_t i;

    if (cache->used == ADDRESSES_MAX || cache->frame_count + count > FRAMES_MAX) {
        memset(cache->slots, 0, sizeof cache->slots);
        cache->used = 0;
        cache->frame_count = 0;
    }
    i = find(cache, address);
    if (cache->slots[i].count != 0)
        return;
    cache->slots[i] = (struct slot){address, cache->frame_count, count};
    memcpy(cache->frames + cache->frame_count, frames, count * sizeof frames[0]);
    cache->frame_count += count;
    cache->used++;
}
