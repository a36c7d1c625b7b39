/* Looks libraries up in ld.so.cache. */
#include <errno.h>
#include <string.h>

#include "host/pack/libraries/pack_ld_cache.h"
#include "lib/bytes.h"

#define OLD_MAGIC "ld.so-1.7.0"
#define OLD_HEADER_BYTES 16u /* magic, padding, number of entries */
#define OLD_ENTRY_BYTES 12u
#define MAGIC "glibc-ld.so.cache1.1"
#define HEADER_BYTES 48u
#define ENTRY_BYTES 24u
#define FLAGS_X86_64 0x0303u /* FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 */

/* An old cache may precede the new one, which then begins at a multiple of eight. */
static size_t skip_old(const uint8_t *bytes, size_t count)
{
    uint64_t end;

    if (count < OLD_HEADER_BYTES || memcmp(bytes, OLD_MAGIC, sizeof OLD_MAGIC - 1) != 0)
        return 0;
    end = OLD_HEADER_BYTES + (uint64_t)bytes_load32(bytes + 12) * OLD_ENTRY_BYTES;
    end = (end + 7) & ~7ull;
    return end < count ? (size_t)end : count;
}

int pack_ld_cache_open(struct pack_ld_cache *cache, const void *bytes, size_t count)
{
    const uint8_t *start = bytes;
    size_t skipped = skip_old(start, count);
    uint64_t entries;

    *cache = (struct pack_ld_cache){.bytes = start + skipped};
    count -= skipped;
    start += skipped;
    if (count < HEADER_BYTES || memcmp(start, MAGIC, sizeof MAGIC - 1) != 0)
        return -EINVAL;
    entries = bytes_load32(start + sizeof MAGIC - 1);
    if (entries > (count - HEADER_BYTES) / ENTRY_BYTES)
        return -EINVAL;
    cache->count = count;
    cache->libraries = (uint32_t)entries;
    return 0;
}

static const char *text_at(const struct pack_ld_cache *cache, uint32_t offset)
{
    const char *text = (const char *)cache->bytes + offset;

    return offset < cache->count && memchr(text, 0, cache->count - offset) != NULL ? text : NULL;
}

const char *pack_ld_cache_next(const struct pack_ld_cache *cache, const char *name,
                               uint32_t *position)
{
    while (*position < cache->libraries) {
        const uint8_t *entry = cache->bytes + HEADER_BYTES + (size_t)(*position)++ * ENTRY_BYTES;
        const char *key = text_at(cache, bytes_load32(entry + 4));

        if (bytes_load32(entry) == FLAGS_X86_64 && key != NULL && strcmp(key, name) == 0) {
            const char *path = text_at(cache, bytes_load32(entry + 8));

            if (path != NULL && path[0] == '/')
                return path;
        }
    }
    return NULL;
}
