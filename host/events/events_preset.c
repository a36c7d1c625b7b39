/* Expands groups of events: of each list, the events that the CPU has. */
#include "host/events/events_preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events.h"
#include "host/events/events_spec.h"

const struct events_preset events_presets[] = {
    {"@bandwidth", "lines between the core and memory, for 'hr timeline --bandwidth'"},
    {NULL, NULL},
};

/* @bandwidth.  AMD's fills by any cause (44) exist from family 19H on; before, L1's prefetches from
 * memory (5A) are counted instead.  L2's prefetches have another name in each generation. */
static const char *const intel[] = {"LLC-misses", "LLC-load-misses", NULL};
static const char *const amd[] = {"LLC-load-misses", "L2_PREFETCH_MISS_L3.ANY",
                                  "L2_PREFETCH_MISS_L3.L2_HW_PREFETCHER", NULL};
#define AMD_FILLS ",r4844"
#define AMD_PREFETCHES ",r485a"
#define AMD_FILLS_FAMILY 0x19u

void events_preset_list(const struct events_preset * /* there is one */,
                        const struct events_cpu *cpu, char list[EVENTS_PRESET_BYTES])
{
    const char *const *name = cpu->vendor == RUN_CPU_AMD ? amd : intel;
    size_t used = 0;

    list[0] = 0;
    for (; *name != NULL && cpu->vendor != RUN_CPU_OTHER; name++) {
        struct run_failure unasked = {0};
        struct events_encoding encoding;

        if (events_resolve(cpu, *name, &encoding, &unasked) == 0)
            used += (size_t)snprintf(list + used, EVENTS_PRESET_BYTES - used, "%s%s",
                                     used != 0 ? "," : "", *name);
    }
    if (used != 0 && cpu->vendor == RUN_CPU_AMD)
        snprintf(list + used, EVENTS_PRESET_BYTES - used, "%s",
                 cpu->family >= AMD_FILLS_FAMILY ? AMD_FILLS : AMD_PREFETCHES);
}

static const struct events_preset *find(const char *name, size_t bytes)
{
    for (const struct events_preset *g = events_presets; g->name != NULL; g++)
        if (strlen(g->name) == bytes && memcmp(g->name, name, bytes) == 0)
            return g;
    return NULL;
}

static int expand_one(const char *name, size_t bytes, const char *cpu_name,
                      char list[EVENTS_PRESET_BYTES], struct run_failure *failure)
{
    const struct events_preset *group = find(name, bytes);
    char described[EVENTS_CPU_TEXT_BYTES];
    struct events_cpu cpu;

    if (group == NULL)
        return run_fail(failure, "unknown group of events '%.*s'; there is %s", (int)bytes, name,
                        events_presets[0].name);
    events_cpu_from_host(&cpu);
    if (cpu_name != NULL && events_cpu_parse(&cpu, cpu_name) != 0 &&
        events_cpu_of_table(&cpu, cpu_name) != 0)
        return run_fail(failure,
                        "event group %s depends on the CPU, and '%s' names none that is known; "
                        "name the events, 'hr events' lists them",
                        group->name, cpu_name);
    events_preset_list(group, &cpu, list);
    if (list[0] == 0)
        return run_fail(failure, "event group %s: %s has none of its events", group->name,
                        events_cpu_describe(&cpu, described));
    return 0;
}

int events_preset_expand(const char *list, const char *cpu, char **expanded,
                         struct run_failure *failure)
{
    char *out = malloc(strlen(list) * EVENTS_PRESET_BYTES + 1), *at = out;
    char group[EVENTS_PRESET_BYTES];

    if (out == NULL)
        return run_fail(failure, "out of memory; end other programs");
    for (;;) {
        size_t bytes = events_spec_length(list);

        if (list[0] == '@' && expand_one(list, bytes, cpu, group, failure) != 0) {
            free(out);
            return -1;
        }
        at += list[0] == '@' ? sprintf(at, "%s", group) : sprintf(at, "%.*s", (int)bytes, list);
        if (list[bytes] == 0)
            break;
        *at++ = ',';
        list += bytes + 1;
    }
    *expanded = out;
    return 0;
}
