/* Keeps the written entries of the system's own files between runs, so that a second run copies one
 * file instead of thousands.
 *
 * A kept part is a file of host/base/cache.h.  Its key is the list of its contents, with sizes,
 * times and inode numbers, which is compared in full.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PACK_CACHE_BYTES_MAX (1ull << 30) /* for all parts; the least recently used go first */
#define PACK_CACHE_PART_BYTES_MAX (PACK_CACHE_BYTES_MAX / 2)

struct pack_cache {
    int directory; /* -1: there is no cache */
    char name[32]; /* of the part's file */
    const void *key;
    size_t key_bytes;
};

/* The key belongs to the caller and must stay valid until pack_cache_close. */
void pack_cache_open(struct pack_cache *c, const void *key, size_t key_bytes);
void pack_cache_close(struct pack_cache *c);

/* Appends the part to `to`.  Returns its bytes; 0 if it is not in the cache; -errno if `to` cannot
 * be written. */
int64_t pack_cache_copy(const struct pack_cache *c, int to);

/* Keeps `bytes` bytes of `from` at `offset`, and removes the least recently used parts. */
void pack_cache_keep(const struct pack_cache *c, int from, uint64_t offset, uint64_t bytes);
