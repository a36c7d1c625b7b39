/* Decodes Intel's data sources. */
#include "host/scan/access_source.h"

#include <stdio.h>

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

struct access_source access_source(const struct trace_info *info, const struct hr_access *access)
{
    struct access_source source = {.level = ACCESS_LEVEL_UNKNOWN};
    uint32_t level = access->source & SOURCE_LEVEL;

    source.store = is_store(info, access->events);
    if (access->address == 0 || info->accesses.sources != HR_SOURCES_INTEL)
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
