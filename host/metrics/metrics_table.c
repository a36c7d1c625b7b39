/* Chooses the metrics of a CPU, and has those that every CPU can have. */
#include "host/metrics/metrics_table.h"

#include <strings.h>

#include "host/metrics/formula.h"
#include "lib/array.h"

#define DEPTH_MAX 8u /* of metrics that are made of metrics */

static const struct metric general[] = {
    {"IPC", "", "instructions / cycles", NULL, NULL, 0, "instructions a cycle"},
    {"CPI", "", "cycles / instructions", NULL, NULL, 0, "cycles an instruction"},
    {"branch_mpki", "/ki", "1000 * branch-misses / instructions", NULL, NULL, 0,
     "mispredicted branches in 1,000 instructions"},
    {"branch_miss_rate", "%", "100 * branch-misses / branches", NULL, NULL, 0,
     "mispredicted branches of all branches"},
    {"l1d_mpki", "/ki", "1000 * L1-dcache-load-misses / instructions", NULL, NULL, 0,
     "loads that missed the first data cache, in 1,000 instructions"},
    {"l1d_miss_rate", "%", "100 * L1-dcache-load-misses / L1-dcache-loads", NULL, NULL, 0,
     "loads that missed the first data cache, of all loads"},
    {"cache_mpki", "/ki", "1000 * cache-misses / instructions", NULL, NULL, 0,
     "misses of the last cache (AMD: the second) in 1,000 instructions"},
    {"cache_miss_rate", "%", "100 * cache-misses / cache-references", NULL, NULL, 0,
     "misses of all accesses to the last cache (AMD: the second)"},
    {"llc_load_mpki", "/ki", "1000 * LLC-load-misses / instructions", NULL, NULL, 0,
     "loads that missed all caches, in 1,000 instructions"},
    {"dtlb_mpki", "/ki", "1000 * dTLB-load-misses / instructions", NULL, NULL, 0,
     "page walks for loads in 1,000 instructions"},
    {"itlb_mpki", "/ki", "1000 * iTLB-load-misses / instructions", NULL, NULL, 0,
     "page walks for code in 1,000 instructions"},
    {"read_bandwidth", "MB/s", "64 * memory-lines / " METRICS_TIME " / 1000000", NULL, NULL, 0,
     "lines from memory (AMD: into the first cache)"},
    {NULL, NULL, NULL, NULL, NULL, 0, NULL},
};

/* Intel SDM volume 3, "Pre-defined Architectural Performance Events"; the fixed counters' codes. */
static const struct metrics_event intel_events[] = {
    {"instructions", 0x00c0, NULL},
    {"instructions", 0x0100, NULL},
    {"cycles", 0x003c, NULL},
    {"cycles", 0x0200, NULL},
    {"branches", 0x00c4, NULL},
    {"branch-misses", 0x00c5, NULL},
    {"cache-references", 0x4f2e, NULL},
    {"cache-misses", 0x412e, NULL},
    {"memory-lines", 0x412e, "LLC-misses"},
    {NULL, 0, NULL},
};

/* AMD PPR of families 17H, 19H and 1AH, "Core Performance Monitor Counters". */
static const struct metrics_event amd_events[] = {
    {"instructions", 0xc0, NULL},  {"cycles", 0x76, NULL}, {"branches", 0xc2, NULL},
    {"branch-misses", 0xc3, NULL}, {NULL, 0, NULL},
};

static const struct metrics_event no_events[] = {{NULL, 0, NULL}};

static const struct models {
    enum run_cpu_vendor vendor;
    uint32_t family, first, last;
    const struct metric *metrics; /* NULL: no others than the general ones */
    const struct metrics_event *events;
} models[] = {
    /* clang-format off */
    {RUN_CPU_INTEL, 6, 78, 78, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 85, 85, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 94, 94, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 142, 142, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 158, 158, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 165, 166, metrics_intel_skylake, metrics_intel_skylake_events},
    {RUN_CPU_INTEL, 6, 106, 106, metrics_intel_icelake, metrics_intel_icelake_events},
    {RUN_CPU_INTEL, 6, 108, 108, metrics_intel_icelake, metrics_intel_icelake_events},
    {RUN_CPU_INTEL, 6, 125, 126, metrics_intel_icelake, metrics_intel_icelake_events},
    {RUN_CPU_INTEL, 6, 167, 167, metrics_intel_icelake, metrics_intel_icelake_events},
    {RUN_CPU_INTEL, 6, 143, 143, metrics_intel_golden_cove, metrics_intel_golden_cove_events},
    {RUN_CPU_INTEL, 6, 207, 207, metrics_intel_golden_cove, metrics_intel_golden_cove_events},
    {RUN_CPU_INTEL, 6, 173, 174, metrics_intel_golden_cove, metrics_intel_golden_cove_events},
    {RUN_CPU_AMD, 0x19, 0x10, 0x1f, metrics_amd_zen4, metrics_amd_zen4_events},
    {RUN_CPU_AMD, 0x19, 0x60, 0x7f, metrics_amd_zen4, metrics_amd_zen4_events},
    {RUN_CPU_AMD, 0x19, 0xa0, 0xaf, metrics_amd_zen4, metrics_amd_zen4_events},
    {RUN_CPU_AMD, 0x19, 0x00, 0xff, NULL, metrics_amd_zen3_events},
    {RUN_CPU_AMD, 0x1a, 0x00, 0xff, metrics_amd_zen5, metrics_amd_zen5_events},
    /* clang-format on */
};

static void add_all(struct metrics_set *set, const struct metric *metrics)
{
    for (; metrics != NULL && metrics->name != NULL && set->count < METRICS_MAX; metrics++)
        set->all[set->count++] = metrics;
}

void metrics_table_find(const struct metrics_cpu *cpu, struct metrics_set *set)
{
    *set = (struct metrics_set){.events = {no_events, cpu->vendor == RUN_CPU_INTEL ? intel_events
                                                      : cpu->vendor == RUN_CPU_AMD ? amd_events
                                                                                   : no_events}};
    add_all(set, general);
    for (size_t i = 0; i < ARRAY_COUNT(models); i++) {
        const struct models *m = &models[i];

        if (m->vendor != cpu->vendor || m->family != cpu->family || cpu->model < m->first ||
            cpu->model > m->last)
            continue;
        set->events[0] = m->events;
        add_all(set, m->metrics);
        return;
    }
}

int metrics_table_metric(const struct metrics_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (strcasecmp(set->all[i]->name, name) == 0)
            return (int)i;
    return -1;
}

const struct metrics_event *metrics_table_event(const struct metrics_set *set, const char *word)
{
    for (size_t list = 0; list < ARRAY_COUNT(set->events); list++)
        for (const struct metrics_event *e = set->events[list]; e->word != NULL; e++)
            if (strcasecmp(e->word, word) == 0)
                return e;
    return NULL;
}

static void visit_words(const struct metrics_set *set, uint32_t metric, metrics_table_visit *visit,
                        void *context, uint32_t depth)
{
    struct formula formula;
    uint32_t at;

    if (depth == 0 || formula_parse(&formula, set->all[metric]->formula, &at) != NULL)
        return; /* a test parses all of them */
    for (uint32_t i = 0; i < formula.name_count; i++) {
        const char *word = formula.names[i];
        int other = metrics_table_metric(set, word);

        if (other >= 0)
            visit_words(set, (uint32_t)other, visit, context, depth - 1);
        else if (strcasecmp(word, METRICS_TIME) != 0)
            visit(context, word, metrics_table_event(set, word));
    }
}

void metrics_table_words(const struct metrics_set *set, uint32_t metric, metrics_table_visit *visit,
                         void *context)
{
    visit_words(set, metric, visit, context, DEPTH_MAX);
}
