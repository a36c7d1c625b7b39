/* Reads descriptions of caches from CPUID. */
#include "drivers/processor/caches.h"

#include <stdbool.h>

#include "drivers/processor/processor.h"
#include "lib/x86.h"

/* CPUID leaf 4 of Intel, 8000001DH of AMD: of the same form. */
static struct cache described_cache(uint32_t leaf, uint32_t index)
{
    struct cpuid_result r = x86_cpuid(leaf, index);

    return (struct cache){.type = r.eax & 31,
                          .level = r.eax >> 5 & 7,
                          .line = (r.ebx & 0xfff) + 1,
                          .partitions = (r.ebx >> 12 & 0x3ff) + 1,
                          .ways = (r.ebx >> 22) + 1,
                          .sets = r.ecx + 1,
                          .threads = (r.eax >> 14 & 0xfff) + 1};
}

/* AMD64 Architecture Programmer's Manual volume 3, "Extended Feature Identifiers": L1 in function
 * 80000005H, L2 and L3 in 80000006H with ways as a code. */
static struct cache plain_cache(uint32_t index)
{
    static const uint8_t ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
    struct cpuid_result r = x86_cpuid(index < 2 ? 0x80000005 : 0x80000006, 0);
    uint32_t word = index == 0 || index == 2 ? r.ecx : r.edx, kib;
    struct cache cache = {.level = index < 2 ? 1 : index,
                          .type = index == 0   ? CACHE_DATA
                                  : index == 1 ? CACHE_INSTRUCTIONS
                                               : CACHE_BOTH,
                          .line = word & 255,
                          .partitions = 1};

    if (index > 3)
        return (struct cache){0};
    if (index < 2) {
        kib = word >> 24;
        cache.ways = word >> 16 & 255;
    } else {
        kib = index == 2 ? word >> 16 : (word >> 18) * 512;
        cache.ways = ways[word >> 12 & 15];
    }
    if (!kib || !cache.line || !cache.ways)
        return (struct cache){0};
    cache.sets = kib * 1024 / cache.line / cache.ways;
    return cache;
}

struct cache caches_get(uint32_t index)
{
    uint32_t vendor = x86_cpuid(0, 0).ecx;
    bool amd = vendor == 0x444d4163 || vendor == 0x656e6975; /* "cAMD", and Hygon's "uine" */
    struct cache cache = {0};

    if (!amd && processor_has_leaf(4))
        return described_cache(4, index);
    if (amd && processor_has_leaf(0x8000001d))
        cache = described_cache(0x8000001d, index);
    return cache.type || !processor_has_leaf(0x80000006) ? cache : plain_cache(index);
}

uint32_t caches_kib(const struct cache *cache)
{
    return (uint32_t)((uint64_t)cache->line * cache->partitions * cache->ways * cache->sets >> 10);
}
