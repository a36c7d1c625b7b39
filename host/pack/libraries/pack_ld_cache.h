/* Reads the GNU C library's /etc/ld.so.cache (sysdeps/generic/dl-cache.h, "glibc-ld.so.cache1.1").
 * Hostile input. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pack_ld_cache {
    const uint8_t *bytes; /* starts with the new format's header; offsets count from here */
    size_t count;
    uint32_t libraries;
};

/* Returns 0, or -EINVAL if it is not such a cache; *cache is then empty. */
int pack_ld_cache_open(struct pack_ld_cache *cache, const void *bytes, size_t count);

/* Returns the path of the next x86-64 library of that name, those for special CPUs first, or NULL
 * at the end; *position is 0 at first. */
const char *pack_ld_cache_next(const struct pack_ld_cache *cache, const char *name,
                               uint32_t *position);
