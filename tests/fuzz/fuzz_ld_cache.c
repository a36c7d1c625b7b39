/* Fuzzes the reader of ld.so.cache: what it finds lies inside, and is found by its name. */
#include <stdbool.h>
#include <string.h>

#include "host/pack/libraries/pack_ld_cache.h"
#include "lib/bytes.h"
#include "tests/fuzz/fuzz.h"

static bool is_inside(const struct pack_ld_cache *cache, const char *text)
{
    const uint8_t *at = (const uint8_t *)text;

    return at >= cache->bytes && at < cache->bytes + cache->count &&
           memchr(text, 0, (size_t)(cache->bytes + cache->count - at)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"libc.so.6", "", "a"};
    uint8_t *copy = malloc(size + 1); /* so that every byte beyond is an error */
    struct pack_ld_cache cache;

    fuzz_check(copy != NULL);
    memcpy(copy, data, size);
    copy = realloc(copy, size != 0 ? size : 1);
    if (pack_ld_cache_open(&cache, copy, size) != 0)
        fuzz_check(cache.libraries == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t position = 0;
        uint32_t before = 0;
        const char *path;

        while ((path = pack_ld_cache_next(&cache, names[i], &position)) != NULL) {
            fuzz_check(is_inside(&cache, path) && path[0] == '/');
            fuzz_check(position > before && position <= cache.libraries);
            before = position;
        }
        fuzz_check(position == cache.libraries);
    }
    free(copy);
    return 0;
}
