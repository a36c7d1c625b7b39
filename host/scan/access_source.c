/* Decodes Intel's data sources, and what AMD's registers say of accesses. */
#include "host/scan/access_source.h"

#include <stdio.h>

#include "lib/pmu/ibs_sources.h"

#define SOURCE_LEVEL 0xfu
#define SOURCE_TLB_MISS 0x10u
#define SOURCE_LOCKED 0x20u
#define STORE_L1_HIT 1u

static const struct {
    enum access_level level;
    bool modified;
} loads[16] = {
    [0x1] = {ACCESS_LEVEL_L1, false},
    [0x2] = {ACCESS_LEVEL_BUFFER, false},
    [0x3] = {ACCESS_LEVEL_L2, false},
    [0x4] = {ACCESS_LEVEL_LLC, false},
    [0x5] = {ACCESS_LEVEL_LLC, false},
    [0x6] = {ACCESS_LEVEL_LLC, false},
    [0x7] = {ACCESS_LEVEL_LLC, true},
    [0x8] = {ACCESS_LEVEL_REMOTE_CACHE, false},
    [0x9] = {ACCESS_LEVEL_REMOTE_CACHE, true},
    [0xa] = {ACCESS_LEVEL_MEMORY, false},
    [0xb] = {ACCESS_LEVEL_REMOTE_MEMORY, false},
    [0xc] = {ACCESS_LEVEL_MEMORY, false},
    [0xd] = {ACCESS_LEVEL_REMOTE_MEMORY, false},
    [0xe] = {ACCESS_LEVEL_DEVICE, false},
    [0xf] = {ACCESS_LEVEL_DEVICE, false},
};

/* MEM_INST_RETIRED and its forerunners count loads by unit masks with bit 0, stores by those with
 * bit 1; MEM_TRANS_RETIRED.STORE_SAMPLE is CD/02. */
static bool is_store(const struct trace_info *info, uint32_t events)
{
    bool store = false;

    for (uint32_t i = 0; i < info->event_count; i++) {
        uint64_t code = info->events[i].meta.encoding & 0xff;
        uint64_t umask = info->events[i].meta.encoding >> 8 & 0xff;

        if ((events >> i & 1) == 0 || (code != 0xd0 && code != 0xcd))
            continue;
        if ((umask & 3) != 2)
            return false;
        store = true;
    }
    return store;
}

/* The codes of loads that missed the second level; from Zen 4 on, two more bits above the old
 * three.
 */
static enum access_level amd_beyond_l2(uint64_t source, bool fine)
{
    static const enum access_level coarse_levels[8] = {
        [2] = ACCESS_LEVEL_LLC, /* or another core of this node's third level */
        [3] = ACCESS_LEVEL_MEMORY,
        [4] = ACCESS_LEVEL_REMOTE_CACHE,
        [7] = ACCESS_LEVEL_DEVICE,
    };
    static const enum access_level fine_levels[32] = {
        [1] = ACCESS_LEVEL_LLC,
        [2] = ACCESS_LEVEL_REMOTE_CACHE, /* another third level of this node */
        [3] = ACCESS_LEVEL_MEMORY,
        [5] = ACCESS_LEVEL_REMOTE_CACHE,
        [6] = ACCESS_LEVEL_MEMORY, /* which keeps its contents */
        [7] = ACCESS_LEVEL_DEVICE,
        [8] = ACCESS_LEVEL_MEMORY, /* extended, at the end of a link */
        [12] = ACCESS_LEVEL_DEVICE,
    };
    uint64_t low = source & IBS_SOURCE_CODE;
    enum access_level level = fine ? fine_levels[(source >> 6 & 3) << 3 | low] : coarse_levels[low];

    if (level == ACCESS_LEVEL_MEMORY && (source & IBS_SOURCE_REMOTE) != 0)
        return ACCESS_LEVEL_REMOTE_MEMORY;
    return level;
}

static enum access_level amd_level(uint64_t source, bool fine)
{
    enum access_level level;

    if ((source & IBS_SOURCE_UNCACHED) != 0)
        return ACCESS_LEVEL_DEVICE;
    if ((source & IBS_SOURCE_L1_MISS) == 0)
        return ACCESS_LEVEL_L1;
    if ((source & (IBS_SOURCE_L2_MISS | IBS_SOURCE_NO_BUFFER)) == 0)
        return ACCESS_LEVEL_L2;
    if ((source & IBS_SOURCE_LOAD) == 0) /* the code is that of loads */
        return ACCESS_LEVEL_BEYOND_L1;
    level = amd_beyond_l2(source, fine);
    if (level == ACCESS_LEVEL_UNKNOWN && (source & IBS_SOURCE_NO_BUFFER) != 0)
        return ACCESS_LEVEL_BUFFER;
    return level;
}

static bool is_cache(enum access_level level)
{
    return level == ACCESS_LEVEL_LLC || level == ACCESS_LEVEL_REMOTE_CACHE;
}

/* PPR of families 17H and 19H, IbsFetchCtl, IbsOpData2 and IbsOpData3. */
static void decode_amd(uint64_t code, bool fine, struct access_source *source)
{
    source->known = true;
    if ((code & IBS_SOURCE_FETCH) != 0) {
        source->tlb_miss = (code & IBS_SOURCE_FETCH_TLB_MISS) != 0;
        source->level = (code & IBS_SOURCE_FETCH_MISS) == 0      ? ACCESS_LEVEL_L1
                        : (code & IBS_SOURCE_FETCH_L2_MISS) == 0 ? ACCESS_LEVEL_L2
                                                                 : ACCESS_LEVEL_BEYOND_L1;
        return;
    }
    source->store = (code & IBS_SOURCE_STORE) != 0;
    source->tlb_miss = (code & IBS_SOURCE_TLB_MISS) != 0;
    source->locked = (code & IBS_SOURCE_LOCKED) != 0;
    source->level = amd_level(code, fine);
    source->modified = is_cache(source->level) && (code & IBS_SOURCE_HIT_STATE) == 0;
}

struct access_source access_source(const struct trace_info *info, const struct hr_access *access)
{
    struct access_source source = {.level = ACCESS_LEVEL_UNKNOWN};
    uint32_t level = access->source & SOURCE_LEVEL, sources = info->accesses.sources;

    if (access->address != 0 && (sources == HR_SOURCES_AMD || sources == HR_SOURCES_AMD_FINE)) {
        decode_amd(access->source, sources == HR_SOURCES_AMD_FINE, &source);
        return source;
    }
    source.store = is_store(info, access->events);
    if (access->address == 0 || sources != HR_SOURCES_INTEL)
        return source;
    source.known = true;
    source.tlb_miss = (access->source & SOURCE_TLB_MISS) != 0;
    source.locked = (access->source & SOURCE_LOCKED) != 0;
    if (source.store) {
        source.level = level & STORE_L1_HIT ? ACCESS_LEVEL_L1 : ACCESS_LEVEL_BEYOND_L1;
        return source;
    }
    source.level = loads[level].level;
    source.modified = loads[level].modified;
    return source;
}

/* "L1", "LLC", "memory". */
static const char *level_name(enum access_level level)
{
    static const char *const names[] = {
        [ACCESS_LEVEL_UNKNOWN] = "unknown",
        [ACCESS_LEVEL_L1] = "L1",
        [ACCESS_LEVEL_BUFFER] = "fill-buffer",
        [ACCESS_LEVEL_L2] = "L2",
        [ACCESS_LEVEL_LLC] = "LLC",
        [ACCESS_LEVEL_BEYOND_L1] = "beyond-L1",
        [ACCESS_LEVEL_REMOTE_CACHE] = "remote-cache",
        [ACCESS_LEVEL_MEMORY] = "memory",
        [ACCESS_LEVEL_REMOTE_MEMORY] = "remote-memory",
        [ACCESS_LEVEL_DEVICE] = "device",
    };

    return names[level];
}

const char *access_source_text(const struct trace_info *info, const struct hr_access *access,
                               char text[ACCESS_SOURCE_BYTES])
{
    const struct access_source source = access_source(info, access);

    text[0] = 0;
    if (source.known)
        snprintf(text, ACCESS_SOURCE_BYTES, "%s%s%s%s%s", source.store ? "store " : "",
                 level_name(source.level), source.modified ? " modified" : "",
                 source.tlb_miss ? " TLB-miss" : "", source.locked ? " locked" : "");
    return text;
}
