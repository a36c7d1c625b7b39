/* Recognises events by their generic names and those of Intel and AMD. */
#include "host/trace/event_kind.h"

#include <string.h>
#include <strings.h>

static const char *const instructions[] = {"instructions", "INST_RETIRED", "INSTRUCTION_RETIRED",
                                           "RETIRED_INSTRUCTIONS", NULL};
static const char *const cycles[] = {
    "cycles",           "cpu-cycles",           "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.CORE",
    "CPU_CLK_UNHALTED", "UNHALTED_CORE_CYCLES", "CYCLES_NOT_IN_HALT",      NULL};

/* '.' and ':' both separate the parts of a vendor's name.  After the known part there may be
 * another unit mask, or the rings. */
static bool same_name(const char *name, const char *known)
{
    for (; *known != 0; name++, known++) {
        bool dots = strchr(".:", *name) != NULL && strchr(".:", *known) != NULL && *name != 0;

        if (!dots && strncasecmp(name, known, 1) != 0)
            return false;
    }
    return *name == 0 || strcmp(name, ":u") == 0 || strcmp(name, ":k") == 0 ||
           strcmp(name, ":uk") == 0;
}

static int find_of(const struct trace_info *info, const char *const *names, int like)
{
    char room[16];

    for (; *names != NULL; names++)
        for (uint32_t i = 0; i < info->event_count; i++)
            if (same_name(trace_info_event_name(info, i, room), *names) &&
                (like < 0 || info->events[i].meta.flags == info->events[like].meta.flags))
                return (int)i;
    return -1;
}

int event_kind_instructions(const struct trace_info *info)
{
    return find_of(info, instructions, -1);
}

int event_kind_cycles(const struct trace_info *info)
{
    return find_of(info, cycles, event_kind_instructions(info));
}

static bool holds(const char *name, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasestr(name, *words) != NULL)
            return true;
    return false;
}

bool event_kind_lines(const char *name)
{
    static const char *const moves[] = {"miss", "fill", "lines_in", "lines_out", NULL};
    static const char *const caches[] = {"cache", "LLC",     "L1",    "L2",   "L3",
                                         "OCR",   "OFFCORE", "LINES", "DRAM", NULL};
    static const char *const others[] = {"TLB", "branch", "BR_", "stall", "cycle", "walk", NULL};

    return holds(name, moves) && holds(name, caches) && !holds(name, others);
}
