/* Identifies CPUs by the vendors' numbers. */
#include "host/events/events_cpu.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/array.h"
#include "lib/pmu/x86_signature.h"

#define FIXED_BY_DEFAULT 3 /* of an Intel CPU given by name: all since 2006 have them */
#define LEAF_PERFORMANCE 0xa

struct cpu_models {
    enum run_cpu_vendor vendor;
    uint8_t family;
    uint8_t first; /* models */
    uint8_t last;
    uint8_t stepping; /* the lowest */
    const char *table; /* libpfm4's */
};

/* Intel: SDM volume 4, "CPUID Signature Values of DisplayFamily_DisplayModel".  AMD: the Processor
 * Programming References, by family and model range.  The first row that matches counts. */
/* clang-format off */
static const struct cpu_models cpu_models[] = {
    {RUN_CPU_INTEL, 6, 106, 106, 0, "icx"}, {RUN_CPU_INTEL, 6, 108, 108, 0, "icx"},
    {RUN_CPU_INTEL, 6, 85, 85, 5, "clx"}, {RUN_CPU_INTEL, 6, 85, 85, 0, "skx"},
    {RUN_CPU_INTEL, 6, 143, 143, 0, "spr"}, {RUN_CPU_INTEL, 6, 207, 207, 0, "spr"},
    {RUN_CPU_INTEL, 6, 125, 126, 0, "icl"}, {RUN_CPU_INTEL, 6, 157, 157, 0, "icl"},
    {RUN_CPU_INTEL, 6, 167, 167, 0, "icl"},
    {RUN_CPU_INTEL, 6, 78, 78, 0, "skl"}, {RUN_CPU_INTEL, 6, 94, 94, 0, "skl"},
    {RUN_CPU_INTEL, 6, 142, 142, 0, "skl"}, {RUN_CPU_INTEL, 6, 158, 158, 0, "skl"},
    {RUN_CPU_INTEL, 6, 165, 166, 0, "skl"},
    {RUN_CPU_INTEL, 6, 61, 61, 0, "bdw"}, {RUN_CPU_INTEL, 6, 71, 71, 0, "bdw"},
    {RUN_CPU_INTEL, 6, 79, 79, 0, "bdw_ep"}, {RUN_CPU_INTEL, 6, 86, 86, 0, "bdw_ep"},
    {RUN_CPU_INTEL, 6, 60, 60, 0, "hsw"}, {RUN_CPU_INTEL, 6, 69, 70, 0, "hsw"},
    {RUN_CPU_INTEL, 6, 63, 63, 0, "hsw_ep"},
    {RUN_CPU_INTEL, 6, 58, 58, 0, "ivb"}, {RUN_CPU_INTEL, 6, 62, 62, 0, "ivb_ep"},
    {RUN_CPU_INTEL, 6, 42, 42, 0, "snb"}, {RUN_CPU_INTEL, 6, 45, 45, 0, "snb_ep"},
    {RUN_CPU_INTEL, 6, 37, 37, 0, "wsm"}, {RUN_CPU_INTEL, 6, 44, 44, 0, "wsm_dp"},
    {RUN_CPU_INTEL, 6, 47, 47, 0, "wsm_dp"},
    {RUN_CPU_INTEL, 6, 26, 26, 0, "nhm"}, {RUN_CPU_INTEL, 6, 30, 31, 0, "nhm"},
    {RUN_CPU_INTEL, 6, 46, 46, 0, "nhm_ex"},
    {RUN_CPU_INTEL, 6, 15, 15, 0, "core"}, {RUN_CPU_INTEL, 6, 22, 23, 0, "core"},
    {RUN_CPU_INTEL, 6, 29, 29, 0, "core"},
    {RUN_CPU_INTEL, 6, 28, 28, 0, "atom"}, {RUN_CPU_INTEL, 6, 38, 39, 0, "atom"},
    {RUN_CPU_INTEL, 6, 53, 54, 0, "atom"},
    {RUN_CPU_INTEL, 6, 55, 55, 0, "slm"}, {RUN_CPU_INTEL, 6, 74, 74, 0, "slm"},
    {RUN_CPU_INTEL, 6, 76, 77, 0, "slm"}, {RUN_CPU_INTEL, 6, 90, 90, 0, "slm"},
    {RUN_CPU_INTEL, 6, 93, 93, 0, "slm"},
    {RUN_CPU_INTEL, 6, 92, 92, 0, "glm"}, {RUN_CPU_INTEL, 6, 95, 95, 0, "glm"},
    {RUN_CPU_INTEL, 6, 134, 134, 0, "tmt"}, {RUN_CPU_INTEL, 6, 150, 150, 0, "tmt"},
    {RUN_CPU_INTEL, 6, 156, 156, 0, "tmt"},
    {RUN_CPU_INTEL, 6, 87, 87, 0, "knl"}, {RUN_CPU_INTEL, 6, 133, 133, 0, "knm"},
    {RUN_CPU_AMD, 0x10, 2, 3, 0, "amd64_fam10h_barcelona"},
    {RUN_CPU_AMD, 0x10, 4, 7, 0, "amd64_fam10h_shanghai"},
    {RUN_CPU_AMD, 0x10, 8, 10, 0, "amd64_fam10h_istanbul"},
    {RUN_CPU_AMD, 0x11, 0, 255, 0, "amd64_fam11h_turion"},
    {RUN_CPU_AMD, 0x12, 0, 255, 0, "amd64_fam12h_llano"},
    {RUN_CPU_AMD, 0x14, 0, 255, 0, "amd64_fam14h_bobcat"},
    {RUN_CPU_AMD, 0x15, 0, 255, 0, "amd64_fam15h_interlagos"},
    {RUN_CPU_AMD, 0x16, 0, 255, 0, "amd64_fam16h"},
    {RUN_CPU_AMD, 0x17, 0, 0x2f, 0, "amd64_fam17h_zen1"},
    {RUN_CPU_AMD, 0x17, 0x30, 255, 0, "amd64_fam17h_zen2"},
    {RUN_CPU_AMD, 0x19, 0x10, 0x1f, 0, "amd64_fam19h_zen4"},
    {RUN_CPU_AMD, 0x19, 0x60, 0x7f, 0, "amd64_fam19h_zen4"},
    {RUN_CPU_AMD, 0x19, 0xa0, 0xaf, 0, "amd64_fam19h_zen4"},
    {RUN_CPU_AMD, 0x19, 0, 0x5f, 0, "amd64_fam19h_zen3"},
};

/* QEMU's models (target/i386/cpu.c); its Icelake-Server has a model number of another part. */
static const struct {
    const char *name;
    enum run_cpu_vendor vendor;
    uint32_t family, model, stepping;
} qemu_models[] = {
    {"Conroe", RUN_CPU_INTEL, 6, 15, 3}, {"Penryn", RUN_CPU_INTEL, 6, 23, 3},
    {"Nehalem", RUN_CPU_INTEL, 6, 26, 3}, {"Westmere", RUN_CPU_INTEL, 6, 44, 1},
    {"SandyBridge", RUN_CPU_INTEL, 6, 42, 1}, {"IvyBridge", RUN_CPU_INTEL, 6, 58, 9},
    {"Haswell", RUN_CPU_INTEL, 6, 60, 4}, {"Broadwell", RUN_CPU_INTEL, 6, 61, 2},
    {"Skylake-Client", RUN_CPU_INTEL, 6, 94, 3}, {"Skylake-Server", RUN_CPU_INTEL, 6, 85, 4},
    {"Cascadelake-Server", RUN_CPU_INTEL, 6, 85, 6}, {"Cooperlake", RUN_CPU_INTEL, 6, 85, 10},
    {"Icelake-Server", RUN_CPU_INTEL, 6, 134, 0}, {"SapphireRapids", RUN_CPU_INTEL, 6, 143, 4},
    {"Denverton", RUN_CPU_INTEL, 6, 95, 1}, {"Snowridge", RUN_CPU_INTEL, 6, 134, 1},
    {"KnightsMill", RUN_CPU_INTEL, 6, 133, 0},
    {"EPYC-Rome", RUN_CPU_AMD, 0x17, 49, 0}, {"EPYC-Milan", RUN_CPU_AMD, 0x19, 1, 1},
    {"EPYC-Genoa", RUN_CPU_AMD, 0x19, 17, 0}, {"EPYC", RUN_CPU_AMD, 0x17, 1, 2},
};
/* clang-format on */

static void name_cpu(struct events_cpu *cpu, enum run_cpu_vendor vendor, uint32_t family,
                     uint32_t model, uint32_t stepping)
{
    *cpu = (struct events_cpu){
        .vendor = vendor,
        .family = family,
        .model = model,
        .stepping = stepping,
        .fixed_counters = vendor == RUN_CPU_INTEL ? FIXED_BY_DEFAULT : 0,
    };
}

void events_cpu_from_signature(struct events_cpu *cpu, enum run_cpu_vendor vendor,
                               uint32_t signature)
{
    struct x86_signature s = x86_signature_parse(signature, vendor == RUN_CPU_AMD);

    name_cpu(cpu, vendor, s.family, s.model, s.stepping);
}

void events_cpu_from_guest(struct events_cpu *cpu, const struct run_message *message)
{
    enum run_cpu_vendor vendor = message->flag == RUN_CPU_INTEL ? RUN_CPU_INTEL
                                 : message->flag == RUN_CPU_AMD ? RUN_CPU_AMD
                                                                : RUN_CPU_OTHER;

    events_cpu_from_signature(cpu, vendor, (uint32_t)message->value);
    cpu->pmu_version = message->value >> 32 & 0xff;
    cpu->fixed_counters = message->value >> 48 & 0xff;
}

void events_cpu_from_host(struct events_cpu *cpu)
{
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    enum run_cpu_vendor vendor = RUN_CPU_OTHER;

    if (__get_cpuid(0, &a, &b, &c, &d) != 0)
        vendor = b == signature_INTEL_ebx ? RUN_CPU_INTEL
                 : b == signature_AMD_ebx ? RUN_CPU_AMD
                                          : RUN_CPU_OTHER;
    a = 0;
    (void)__get_cpuid(1, &a, &b, &c, &d);
    events_cpu_from_signature(cpu, vendor, a);
    if (vendor != RUN_CPU_AMD && __get_cpuid(LEAF_PERFORMANCE, &a, &b, &c, &d) != 0) {
        cpu->pmu_version = a & 0xff;
        if (cpu->pmu_version > 1)
            cpu->fixed_counters = d & 0x1f;
    }
}

static int parse_numbers(struct events_cpu *cpu, enum run_cpu_vendor vendor, const char *text)
{
    char *end;
    unsigned long family = strtoul(text, &end, 0);
    unsigned long model;

    if (end == text || *end != '-' || family > 0xff + 0xf)
        return -1;
    text = end + 1;
    model = strtoul(text, &end, 0);
    if (end == text || *end != 0 || model > 0xff)
        return -1;
    name_cpu(cpu, vendor, (uint32_t)family, (uint32_t)model, 0);
    return 0;
}

/* QEMU's properties family=, model= and stepping= change what the guest sees. */
static int apply_properties(struct events_cpu *cpu, const char *text)
{
    const struct {
        const char *name;
        uint32_t *number;
    } properties[] = {
        {",family=", &cpu->family}, {",model=", &cpu->model}, {",stepping=", &cpu->stepping}};

    for (size_t i = 0; i < ARRAY_COUNT(properties); i++) {
        const char *found = strstr(text, properties[i].name);
        char *end;
        unsigned long value;

        if (found == NULL)
            continue;
        found += strlen(properties[i].name);
        value = strtoul(found, &end, 0);
        if (end == found || (*end != 0 && *end != ',') || value > 0x10e)
            return -1;
        *properties[i].number = (uint32_t)value;
    }
    return 0;
}

int events_cpu_parse(struct events_cpu *cpu, const char *text)
{
    static const struct {
        const char *prefix;
        enum run_cpu_vendor vendor;
    } vendors[] = {{"intel-", RUN_CPU_INTEL},
                   {"GenuineIntel-", RUN_CPU_INTEL},
                   {"amd-", RUN_CPU_AMD},
                   {"AuthenticAMD-", RUN_CPU_AMD},
                   {"HygonGenuine-", RUN_CPU_AMD}};

    for (size_t i = 0; i < ARRAY_COUNT(vendors); i++) {
        size_t bytes = strlen(vendors[i].prefix);

        if (strncasecmp(text, vendors[i].prefix, bytes) == 0)
            return parse_numbers(cpu, vendors[i].vendor, text + bytes);
    }
    if (strncmp(text, "host", 4) == 0 && (text[4] == 0 || text[4] == ',')) {
        events_cpu_from_host(cpu);
        return apply_properties(cpu, text + 4);
    }
    for (size_t i = 0; i < ARRAY_COUNT(qemu_models); i++) {
        size_t bytes = strlen(qemu_models[i].name);

        /* What may follow: a version (-v2, -IBRS, -noTSX) or properties. */
        if (strncasecmp(text, qemu_models[i].name, bytes) != 0 || strchr(",-", text[bytes]) == NULL)
            continue;
        name_cpu(cpu, qemu_models[i].vendor, qemu_models[i].family, qemu_models[i].model,
                 qemu_models[i].stepping);
        return apply_properties(cpu, text + bytes);
    }
    return -1;
}

int events_cpu_of_table(struct events_cpu *cpu, const char *table)
{
    for (size_t i = 0; i < ARRAY_COUNT(cpu_models); i++) {
        const struct cpu_models *m = &cpu_models[i];

        if (strcasecmp(table, m->table) != 0)
            continue;
        name_cpu(cpu, m->vendor, m->family, m->first, m->stepping);
        return 0;
    }
    return -1;
}

const char *events_cpu_table(const struct events_cpu *cpu)
{
    for (size_t i = 0; i < ARRAY_COUNT(cpu_models); i++) {
        const struct cpu_models *m = &cpu_models[i];

        if (m->vendor == cpu->vendor && m->family == cpu->family && cpu->model >= m->first &&
            cpu->model <= m->last && cpu->stepping >= m->stepping)
            return m->table;
    }
    return NULL;
}

const char *events_cpu_table_at(size_t index)
{
    for (size_t i = 0; i < ARRAY_COUNT(cpu_models); i++) {
        size_t j = 0;

        while (strcmp(cpu_models[j].table, cpu_models[i].table) != 0)
            j++;
        if (j == i && index-- == 0)
            return cpu_models[i].table;
    }
    return NULL;
}

int events_cpu_models_at(size_t index, struct events_cpu *first, uint32_t *last_model)
{
    const struct cpu_models *m = &cpu_models[index];

    if (index >= ARRAY_COUNT(cpu_models))
        return -1;
    name_cpu(first, m->vendor, m->family, m->first, m->stepping);
    *last_model = m->last;
    return 0;
}

char *events_cpu_describe(const struct events_cpu *cpu, char *out)
{
    static const char *const names[] = {"x86", "Intel", "AMD"};
    const char *table = events_cpu_table(cpu);

    if (table != NULL)
        snprintf(out, EVENTS_CPU_TEXT_BYTES, "%s family %u model %u (%s)", names[cpu->vendor],
                 cpu->family, cpu->model, table);
    else
        snprintf(out, EVENTS_CPU_TEXT_BYTES, "%s family %u model %u", names[cpu->vendor],
                 cpu->family, cpu->model);
    return out;
}

char *events_cpu_text(const struct events_cpu *cpu, char *out)
{
    snprintf(out, EVENTS_CPU_TEXT_BYTES, "%s-%u-%u", cpu->vendor == RUN_CPU_AMD ? "amd" : "intel",
             cpu->family, cpu->model);
    return out;
}
