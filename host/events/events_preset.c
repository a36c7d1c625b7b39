/* Expands groups of events: of each list, the events that the CPU has. */
#include "host/events/events_preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/events/events.h"
#include "host/events/events_spec.h"
#include "host/metrics/metrics.h"

const struct events_preset events_presets[] = {
    {"@bandwidth", "lines between the core and memory, for 'hr timeline --bandwidth'"},
    {"@tma1", "top-down analysis, level 1, for 'hr stat --metrics'"},
    {"@tma2", "top-down analysis, levels 1 and 2"},
    {NULL, NULL},
};

/* @bandwidth.  AMD's fills by any cause (44) exist from family 19H on; before, L1's prefetches from
 * memory (5A) are counted instead.  L2's prefetches have another name in each generation. */
static const char *const intel[] = {"LLC-misses", "LLC-load-misses", NULL};
static const char *const amd[] = {"LLC-load-misses", "L2_PREFETCH_MISS_L3.ANY",
                                  "L2_PREFETCH_MISS_L3.L2_HW_PREFETCHER", NULL};
#define AMD_FILLS "r4844"
#define AMD_PREFETCHES "r485a"
#define AMD_FILLS_FAMILY 0x19u
#define RAW_BYTES 24

struct members {
    const struct events_cpu *cpu;
    char *list;
    bool missing; /* the CPU lacks one of them */
};

/* Whether a list has the event, in these letters. */
static bool has(const char *list, const char *name)
{
    size_t bytes;

    for (; *list != 0; list += bytes + (list[bytes] != 0)) {
        bytes = events_spec_length(list);
        if (bytes == strlen(name) && strncasecmp(list, name, bytes) == 0)
            return true;
    }
    return false;
}

static void append(struct members *m, const char *name)
{
    size_t used = strlen(m->list);

    if (has(m->list, name))
        return;
    if (used + strlen(name) + 2 > EVENTS_PRESET_BYTES)
        m->missing = true;
    else
        sprintf(m->list + used, "%s%s", used != 0 ? "," : "", name);
}

static bool resolves(const struct events_cpu *cpu, const char *name,
                     struct events_encoding *encoding)
{
    struct run_failure unasked = {0};

    return events_resolve(cpu, name, encoding, &unasked) == 0;
}

static void list_bandwidth(struct members *m)
{
    const char *const *name = m->cpu->vendor == RUN_CPU_AMD ? amd : intel;
    struct events_encoding encoding;

    for (; *name != NULL && m->cpu->vendor != RUN_CPU_OTHER; name++)
        if (resolves(m->cpu, *name, &encoding))
            append(m, *name);
    if (m->list[0] != 0 && m->cpu->vendor == RUN_CPU_AMD)
        append(m, m->cpu->family >= AMD_FILLS_FAMILY ? AMD_FILLS : AMD_PREFETCHES);
}

/* By name where the tables have it with this meaning, else by number. */
static void add_word(void *context, const char *word, const struct metrics_event *row)
{
    struct members *m = context;
    const char *name = row != NULL && row->name != NULL ? row->name : word;
    uint64_t rings = EVENTS_SELECT_USR;
    struct events_encoding encoding;
    char raw[RAW_BYTES];

    if (resolves(m->cpu, name, &encoding) &&
        (row == NULL || encoding.select == (row->select | rings))) {
        append(m, name);
        return;
    }
    if (row == NULL) {
        m->missing = true;
        return;
    }
    snprintf(raw, sizeof raw, "r%lx", row->select);
    append(m, raw);
}

void events_preset_metrics(const struct events_cpu *cpu, struct metrics_set *set)
{
    metrics_table_find(&(struct metrics_cpu){cpu->vendor, cpu->family, cpu->model}, set);
}

/* Instructions are free on Intel's fixed counters; AMD's six have no room for them. */
static void list_level(struct members *m, const struct metrics_set *set, uint32_t level)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->all[i]->level == 0 || set->all[i]->level > level)
            continue;
        if (m->list[0] == 0)
            sprintf(m->list, m->cpu->vendor == RUN_CPU_INTEL ? "instructions,cycles" : "cycles");
        metrics_table_words(set, i, add_word, m);
    }
}

bool events_preset_list(const char *name, size_t bytes, const struct events_cpu *cpu,
                        char list[EVENTS_PRESET_BYTES])
{
    struct members m = {cpu, list, false};
    uint32_t level = metrics_group_level(name, bytes);
    struct metrics_set set;
    char metric[FORMULA_NAME_BYTES];
    int number;

    list[0] = 0;
    events_preset_metrics(cpu, &set);
    snprintf(metric, sizeof metric, "%.*s", (int)(bytes < sizeof metric ? bytes - 1 : 0), name + 1);
    number = metrics_table_metric(&set, metric);
    if (level != 0)
        list_level(&m, &set, level);
    else if (number >= 0)
        metrics_table_words(&set, (uint32_t)number, add_word, &m);
    else if (strcasecmp(metric, "bandwidth") == 0)
        list_bandwidth(&m);
    else
        return false;
    if (m.missing)
        list[0] = 0;
    return true;
}

static int expand_one(const char *name, size_t bytes, const char *cpu_name,
                      char list[EVENTS_PRESET_BYTES], struct run_failure *failure)
{
    char described[EVENTS_CPU_TEXT_BYTES];
    struct events_cpu cpu;

    events_cpu_from_host(&cpu);
    if (cpu_name != NULL && events_cpu_parse(&cpu, cpu_name) != 0 &&
        events_cpu_of_table(&cpu, cpu_name) != 0)
        return run_fail(failure,
                        "event group %.*s depends on the CPU, and '%s' names none that is known; "
                        "name the events, 'hr events' lists them",
                        (int)bytes, name, cpu_name);
    if (!events_preset_list(name, bytes, &cpu, list))
        return run_fail(failure,
                        "unknown group of events '%.*s' on %s; there are @bandwidth, @tma1, @tma2 "
                        "and each metric, such as @IPC: 'hr events @' lists them",
                        (int)bytes, name, events_cpu_describe(&cpu, described));
    if (list[0] == 0)
        return run_fail(failure, "event group %.*s: its events are not known of %s", (int)bytes,
                        name, events_cpu_describe(&cpu, described));
    return 0;
}

/* Adds the events of a group to the list that ends at `end` but for those that it has.  Returns its
 * end. */
static char *add_new(const char *list, char *end, const char *group)
{
    char name[EVENTS_NAME_MAX + 1];
    size_t bytes;

    for (; *group != 0; group += bytes + (group[bytes] != 0)) {
        bytes = events_spec_length(group);
        snprintf(name, sizeof name, "%.*s", (int)bytes, group);
        if (!has(list, name))
            end += sprintf(end, "%s%s", end != list ? "," : "", name);
    }
    return end;
}

static int check_count(const char *asked, const char *expanded, struct run_failure *failure)
{
    const char *group = asked[0] == '@' ? asked : strstr(asked, ",@");
    size_t count = 0, bytes;

    for (; *expanded != 0; expanded += bytes + (expanded[bytes] != 0), count++)
        bytes = events_spec_length(expanded);
    if (group == NULL || count <= HR_EVENTS_MAX)
        return 0;
    group += *group == ',';
    return run_fail(failure,
                    "event group %.*s: with it there are %zu events, and a run counts %d at most, "
                    "at once; 'hr sweep -e %.*s' measures them in several runs",
                    (int)strcspn(group, ","), group, count, HR_EVENTS_MAX, (int)strcspn(group, ","),
                    group);
}

int events_preset_expand(const char *list, const char *cpu, char **expanded,
                         struct run_failure *failure)
{
    const char *asked = list;
    size_t groups = 1;
    char *out, *at, group[EVENTS_PRESET_BYTES];

    for (const char *c = list; *c != 0; c++)
        groups += *c == '@';
    out = at = malloc(strlen(list) + groups * EVENTS_PRESET_BYTES + 1);
    if (out == NULL)
        return run_fail(failure, "out of memory; end other programs");
    for (*at = 0;; list++) {
        size_t bytes = events_spec_length(list);

        if (list[0] != '@')
            at += sprintf(at, "%s%.*s", list != asked ? "," : "", (int)bytes, list);
        else if (expand_one(list, bytes, cpu, group, failure) == 0)
            at = add_new(out, at, group);
        else
            break;
        list += bytes;
        if (*list == 0 && check_count(asked, out, failure) == 0) {
            *expanded = out;
            return 0;
        }
        if (*list == 0)
            break;
    }
    free(out);
    return -1;
}
