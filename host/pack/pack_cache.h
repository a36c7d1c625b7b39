/* Keeps the written entries of the system's own files between runs, so that a second run copies one
 * file rather than thousands.
 *
 * A kept part is a file of host/base/cache.h.  It is found by the list of what is in it, with
 * sizes, times and inode numbers, compared in full.
 */
#ifndef HOST_PACK_PACK_CACHE_H
#define HOST_PACK_PACK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_CACHE_BYTES_MAX (1ull << 30) /* of all parts: the oldest go */
#define PACK_CACHE_PART_BYTES_MAX (PACK_CACHE_BYTES_MAX / 2)

struct pack_cache {
    int directory; /* -1: there is none */
    char name[32]; /* of the part's file */
    const void *key;
    size_t key_bytes;
};

/* The key is the caller's and stays valid until pack_cache_close. */
void pack_cache_open(struct pack_cache *c, const void *key, size_t key_bytes);
void pack_cache_close(struct pack_cache *c);

/* Appends the part to `to`: its bytes; 0: it is not kept; -errno: `to` cannot be written. */
int64_t pack_cache_copy(const struct pack_cache *c, int to);

/* Keeps `bytes` bytes of `from` at `offset`, and removes what is too old. */
void pack_cache_keep(const struct pack_cache *c, int from, uint64_t offset, uint64_t bytes);

#endif
