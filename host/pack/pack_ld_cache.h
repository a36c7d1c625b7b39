/* Reads the GNU C library's /etc/ld.so.cache (sysdeps/generic/dl-cache.h, "glibc-ld.so.cache1.1").
 * Hostile input.
 */
#ifndef HOST_PACK_PACK_LD_CACHE_H
#define HOST_PACK_PACK_LD_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct pack_ld_cache {
    const uint8_t *bytes; /* from the new format's header on: what offsets count from */
    size_t count;
    uint32_t libraries;
};

/* 0, or -EINVAL: not such a cache, and then it is an empty one. */
int pack_ld_cache_open(struct pack_ld_cache *cache, const void *bytes, size_t count);

/* Iterates over the paths of the x86-64 libraries of that name, those for special CPUs first;
 * *position is 0 at first; NULL at the end.
 */
const char *pack_ld_cache_next(const struct pack_ld_cache *cache, const char *name,
                               uint32_t *position);

#endif
