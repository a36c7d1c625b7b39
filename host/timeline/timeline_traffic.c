/* Recognises the events of lines from and to memory by vendor and encoding.
 *
 * Intel: event lists of the models (perfmon), "LONGEST_LAT_CACHE.MISS", "MEM_LOAD_RETIRED.L3_MISS",
 * "L2_TRANS.L2_WB", and SDM volume 3, "Off-core Response Performance Monitoring".  AMD: PPR of
 * families 17H and 19H, "Core Performance Monitor Counters", PMCx043, 044, 059, 05A and 072.
 */
#include "host/timeline/timeline_traffic.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EVENT_HIGH 0xf00000000ull /* AMD: bits 11:8 of the event */
#define MODIFIERS 0xff840000ull /* counter mask, inversion, edge: lines are not counted then */
#define AMD_FROM_MEMORY 0xc8u /* unit masks of fills: memory of this node, of others, extended */
#define AMD_L2_PREFETCHERS 0x3fu /* the other bits are L1's, whose fills 5AH counts */

enum lines {
    LINES_NONE,
    LINES_READ, /* all; AMD: into L1, for whatever reason */
    LINES_DEMAND,
    LINES_L1_PREFETCH,
    LINES_L2_PREFETCH,
    LINES_WRITTEN,
    LINES_KINDS
};

/* OFFCORE_RSP: bits 15:0 say which requests, the others which responses.  Requests: 1 data, 2
 * ownership, 4 code, 20H prefetched ownership, 800H stores past the caches. */
static enum lines offcore_kind(uint64_t value)
{
    bool any = (value & 0x10000) != 0, hits = (value & 0x3c0000) != 0, misses = value >> 22 != 0;
    uint64_t requests = value & 0xffff;

    if (requests == 0x822 && !any) /* OCR.WRITE_ESTIMATE_MEMORY, whatever the response */
        return LINES_WRITTEN;
    if (any || hits || !misses)
        return LINES_NONE;
    if (requests == 1)
        return LINES_DEMAND;
    if ((requests & ~0x822ull) == 0)
        return LINES_WRITTEN;
    return (requests & 7) == 7 ? LINES_READ : LINES_NONE;
}

static enum lines intel_kind(const struct hr_meta_event *event)
{
    switch (event->encoding & 0xffff) {
    case 0x412e:
        return LINES_READ;
    case 0x20d1:
        return LINES_DEMAND;
    case 0x40f0: /* L2_TRANS.L2_WB */
        return LINES_WRITTEN;
    case 0x01b7:
    case 0x01bb:
    case 0x012a:
    case 0x012b:
        return offcore_kind(event->encoding_ext);
    default:
        return LINES_NONE;
    }
}

static enum lines amd_kind(const struct hr_meta_event *event)
{
    uint32_t mask = event->encoding >> 8 & 0xff;
    bool memory = mask != 0 && (mask & ~AMD_FROM_MEMORY) == 0;

    switch (event->encoding & (EVENT_HIGH | 0xff)) {
    case 0x43:
        return memory ? LINES_DEMAND : LINES_NONE;
    case 0x44: /* from family 19H on */
        return memory ? LINES_READ : LINES_NONE;
    case 0x59:
    case 0x5a:
        return memory ? LINES_L1_PREFETCH : LINES_NONE;
    case 0x72:
        return (mask & ~AMD_L2_PREFETCHERS) == 0 ? LINES_L2_PREFETCH : LINES_NONE;
    default:
        return LINES_NONE;
    }
}

static bool is_vendor(const struct trace_info *info, const char *vendor)
{
    return strcmp(trace_info_text(info, "machine.vendor", ""), vendor) == 0;
}

/* Returns the events of each kind, a bit each. */
static void sort_events(const struct trace_info *info, bool amd, uint32_t kinds[LINES_KINDS])
{
    const struct hr_meta_event *first = NULL;

    for (uint32_t i = 0; i < info->event_count; i++) {
        const struct hr_meta_event *event = &info->events[i].meta;
        enum lines kind = amd ? amd_kind(event) : intel_kind(event);

        if (kind == LINES_NONE || event->source != HR_SOURCE_PMU ||
            (event->encoding & MODIFIERS) != 0 || (first != NULL && first->flags != event->flags))
            continue;
        if (amd || kinds[kind] == 0) /* Intel's are alternatives, AMD's parts */
            kinds[kind] |= 1u << i;
        first = event;
    }
}

static void add_flow(struct timeline_flow *flows, uint32_t *count, struct timeline_flow flow)
{
    if (flow.plus != 0)
        flows[(*count)++] = flow;
}

/* The memory controller's counter of this name, as a bit. */
static uint32_t find_controller(const struct trace_info *info, const char *name)
{
    int event = trace_info_find_event(info, name);

    return event >= 0 && info->events[event].meta.source == HR_SOURCE_MSR ? 1u << event : 0;
}

uint32_t timeline_traffic_find(const struct trace_info *info,
                               struct timeline_flow flows[TIMELINE_FLOWS_MAX])
{
    uint32_t k[LINES_KINDS] = {0}, count = 0, prefetched, read;
    bool amd = is_vendor(info, "AuthenticAMD");

    if (!amd && !is_vendor(info, "GenuineIntel"))
        return 0;
    add_flow(flows, &count,
             (struct timeline_flow){"machine_read", "machine read",
                                    find_controller(info, "imc-reads"), 0, TIMELINE_PEAK_NONE});
    add_flow(flows, &count,
             (struct timeline_flow){"machine_written", "machine written",
                                    find_controller(info, "imc-writes"), 0, TIMELINE_PEAK_NONE});
    sort_events(info, amd, k);
    prefetched = k[LINES_L1_PREFETCH] | k[LINES_L2_PREFETCH];
    read = k[LINES_READ];
    if (amd)
        read = read != 0 ? read | k[LINES_L2_PREFETCH] : k[LINES_DEMAND] | prefetched;
    add_flow(flows, &count, (struct timeline_flow){"read", "read", read, 0, TIMELINE_PEAK_READ});
    add_flow(flows, &count,
             (struct timeline_flow){"demand", amd ? "demand" : "loads", k[LINES_DEMAND], 0,
                                    TIMELINE_PEAK_NONE});
    if (k[LINES_READ] != 0 && k[LINES_DEMAND] != 0 && amd)
        add_flow(flows, &count,
                 (struct timeline_flow){"prefetch", "prefetch", read, k[LINES_DEMAND],
                                        TIMELINE_PEAK_NONE});
    else if (k[LINES_READ] != 0 && k[LINES_DEMAND] != 0 && k[LINES_WRITTEN] == 0)
        add_flow(flows, &count,
                 (struct timeline_flow){"written_at_most", "written <=", read, k[LINES_DEMAND],
                                        TIMELINE_PEAK_WRITE});
    else
        add_flow(flows, &count,
                 (struct timeline_flow){"prefetch", "prefetch", prefetched, 0, TIMELINE_PEAK_NONE});
    add_flow(
        flows, &count,
        (struct timeline_flow){"written", "written", k[LINES_WRITTEN], 0, TIMELINE_PEAK_WRITE});
    return count;
}

uint64_t timeline_traffic_lines(const struct timeline_flow *flow, const uint64_t *counts)
{
    uint64_t plus = 0, minus = 0;

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++) {
        plus += (flow->plus >> i & 1) != 0 ? counts[i] : 0;
        minus += (flow->minus >> i & 1) != 0 ? counts[i] : 0;
    }
    return plus > minus ? plus - minus : 0;
}

static void append(char *text, const struct trace_info *info, uint32_t events, const char *sign)
{
    char word[64];

    for (uint32_t i = 0; i < info->event_count; i++) {
        size_t used = strlen(text);

        if ((events >> i & 1) != 0)
            snprintf(text + used, TIMELINE_FLOW_TEXT_BYTES - used, "%s%s", used != 0 ? sign : "",
                     trace_info_event_word(info, i, word));
    }
}

char *timeline_traffic_text(const struct trace_info *info, const struct timeline_flow *flow,
                            char text[TIMELINE_FLOW_TEXT_BYTES])
{
    text[0] = 0;
    append(text, info, flow->plus, " + ");
    append(text, info, flow->minus, " - ");
    return text;
}
