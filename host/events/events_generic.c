/* Encodes the generic names for each CPU. */
#include "host/events/events_generic.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "host/events/events_library.h"
#include "host/events/events_spec.h"
#include "lib/array.h"

#define REF_CYCLES_FIXED 0x0300 /* fixed counter 2, at the TSC's rate; no select */
#define REF_CYCLES_GENERAL 0x013c
#define REF_CYCLES_COUNTER 2
#define RINGS_ANY EVENTS_SELECT_USR

/* SDM volume 3, "Pre-defined Architectural Performance Events". */
const struct events_architectural events_architectural[] = {
    {"UNHALTED_CORE_CYCLES", "core clock cycles", 0x003c},
    {"INSTRUCTION_RETIRED", "instructions retired", 0x00c0},
    {"UNHALTED_REFERENCE_CYCLES", "clock cycles at the reference frequency", REF_CYCLES_GENERAL},
    {"LLC_REFERENCES", "accesses to the last-level cache", 0x4f2e},
    {"LLC_MISSES", "misses in the last-level cache", 0x412e},
    {"BRANCH_INSTRUCTIONS_RETIRED", "branch instructions retired", 0x00c4},
    {"MISPREDICTED_BRANCH_RETIRED", "mispredicted branches", 0x00c5},
    {NULL, NULL, 0},
};

/* By encoding where it is architectural, otherwise by the names in libpfm4's tables, from new CPUs
 * to old.  The meaning is that of Linux perf's generic events. */
static const struct intel_event {
    const char *name;
    uint64_t select; /* 0: by name */
    const char *library[3];
} intel_events[] = {
    {"cycles", 0x003c, {NULL}},
    {"cpu-cycles", 0x003c, {NULL}},
    {"instructions", 0x00c0, {NULL}},
    {"bus-cycles", 0x013c, {NULL}},
    {"branches", 0x00c4, {NULL}},
    {"branch-instructions", 0x00c4, {NULL}},
    {"branch-misses", 0x00c5, {NULL}},
    {"cache-references", 0x4f2e, {NULL}},
    {"cache-misses", 0x412e, {NULL}},
    {"LLC-misses", 0x412e, {NULL}},
    {"L1-dcache-loads", 0, {"MEM_INST_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_LOADS"}},
    {"L1-dcache-load-misses", 0, {"MEM_LOAD_RETIRED:L1_MISS", "MEM_LOAD_UOPS_RETIRED:L1_MISS"}},
    {"L1-dcache-stores", 0, {"MEM_INST_RETIRED:ALL_STORES", "MEM_UOPS_RETIRED:ALL_STORES"}},
    {"mem-loads",
     0,
     {"MEM_TRANS_RETIRED:LOAD_LATENCY", "MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD"}},
    {"mem-stores", 0, {"MEM_INST_RETIRED:ALL_STORES", "MEM_UOPS_RETIRED:ALL_STORES"}},
    {"LLC-loads",
     0,
     {"OCR:DEMAND_DATA_RD_ANY_RESPONSE", "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"}},
    {"LLC-load-misses", 0, {"MEM_LOAD_RETIRED:L3_MISS", "MEM_LOAD_UOPS_RETIRED:L3_MISS"}},
    {"LLC-stores", 0, {"OCR:DEMAND_RFO_ANY_RESPONSE", "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE"}},
    {"LLC-store-misses", 0, {"OCR:DEMAND_RFO_L3_MISS", "OFFCORE_RESPONSE_0:DMND_RFO:L3_MISS"}},
    {"dTLB-load-misses",
     0,
     {"DTLB_LOAD_MISSES:WALK_COMPLETED", "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"}},
    {"iTLB-load-misses", 0, {"ITLB_MISSES:WALK_COMPLETED", "ITLB_MISSES:MISS_CAUSES_A_WALK"}},
};

enum amd_generation { AMD_K7, AMD_ZEN1, AMD_ZEN2, AMD_ZEN3, AMD_ZEN4 };

/* PPR of families 17h and 19h, "Core Performance Monitor Counters"; BKDG of family 10h for older
 * ones.  The choice is that of Linux's tables, with two exceptions: loads are dispatched loads, not
 * accesses to the cache, which include stores; and their misses are allocations of miss address
 * buffers. */
static const struct amd_event {
    const char *name;
    uint64_t select;
    enum amd_generation first;
    enum amd_generation last;
} amd_events[] = {
    {"cycles", 0x0076, AMD_K7, AMD_ZEN4},
    {"cpu-cycles", 0x0076, AMD_K7, AMD_ZEN4},
    {"instructions", 0x00c0, AMD_K7, AMD_ZEN4},
    {"ref-cycles", 0x100000120, AMD_ZEN4, AMD_ZEN4},
    {"branches", 0x00c2, AMD_K7, AMD_ZEN4},
    {"branch-instructions", 0x00c2, AMD_K7, AMD_ZEN4},
    {"branch-misses", 0x00c3, AMD_K7, AMD_ZEN4},
    {"cache-references", 0x077d, AMD_K7, AMD_K7},
    {"cache-references", 0xff60, AMD_ZEN1, AMD_ZEN4},
    {"cache-misses", 0x077e, AMD_K7, AMD_K7},
    {"cache-misses", 0x0964, AMD_ZEN1, AMD_ZEN4},
    {"LLC-misses", 0x0964, AMD_ZEN1, AMD_ZEN4},
    {"L1-dcache-loads", 0x0129, AMD_ZEN1, AMD_ZEN4},
    {"L1-dcache-load-misses", 0x0141, AMD_ZEN1, AMD_ZEN2},
    {"L1-dcache-load-misses", 0x3f41, AMD_ZEN3, AMD_ZEN4},
    {"L1-dcache-stores", 0x0229, AMD_ZEN1, AMD_ZEN4},
    {"LLC-load-misses", 0x4843, AMD_ZEN1, AMD_ZEN4},
    {"dTLB-load-misses", 0xf045, AMD_ZEN1, AMD_ZEN4},
    {"iTLB-load-misses", 0xff85, AMD_ZEN1, AMD_ZEN4},
    {"stalled-cycles-frontend", 0x00d0, AMD_K7, AMD_K7},
    {"stalled-cycles-frontend", 0x0287, AMD_ZEN1, AMD_ZEN1},
    {"stalled-cycles-frontend", 0x00a9, AMD_ZEN2, AMD_ZEN4},
    {"stalled-cycles-backend", 0x00d1, AMD_K7, AMD_K7},
    {"stalled-cycles-backend", 0x0187, AMD_ZEN1, AMD_ZEN1},
    {"mem-loads", RUN_SELECT_IBS_OP, AMD_ZEN1, AMD_ZEN4},
    {"mem-stores", RUN_SELECT_IBS_OP, AMD_ZEN1, AMD_ZEN4},
    {"ibs_op", RUN_SELECT_IBS_OP, AMD_ZEN1, AMD_ZEN4},
    {"ibs_fetch", RUN_SELECT_IBS_FETCH, AMD_ZEN1, AMD_ZEN4},
};

/* A CPU newer than the tables counts as the newest. */
static enum amd_generation amd_generation(const struct events_cpu *cpu)
{
    const char *table = events_cpu_table(cpu);

    if (cpu->family < 0x17)
        return AMD_K7;
    if (table == NULL)
        return AMD_ZEN4;
    return strcmp(table, "amd64_fam17h_zen1") == 0   ? AMD_ZEN1
           : strcmp(table, "amd64_fam17h_zen2") == 0 ? AMD_ZEN2
           : strcmp(table, "amd64_fam19h_zen3") == 0 ? AMD_ZEN3
                                                     : AMD_ZEN4;
}

/* Which ops an event of instruction-based sampling is for. */
static uint64_t ibs_filter(const char *name)
{
    return strcmp(name, "mem-loads") == 0    ? RUN_IBS_LOADS
           : strcmp(name, "mem-stores") == 0 ? RUN_IBS_STORES
                                             : 0;
}

static bool encode_amd(const struct events_cpu *cpu, const char *name, uint64_t *select,
                       uint64_t *companion)
{
    enum amd_generation generation = amd_generation(cpu);

    for (size_t i = 0; i < ARRAY_COUNT(amd_events); i++) {
        const struct amd_event *e = &amd_events[i];

        if (strcmp(e->name, name) == 0 && generation >= e->first && generation <= e->last) {
            *select = e->select;
            *companion = ibs_filter(name);
            return true;
        }
    }
    return false;
}

static bool encode_by_library(const struct events_cpu *cpu, const struct intel_event *event,
                              uint64_t *select, uint64_t *companion)
{
    const char *table = events_cpu_table(cpu);

    for (size_t i = 0;
         table != NULL && i < ARRAY_COUNT(event->library) && event->library[i] != NULL; i++)
        if (events_library_encode(table, event->library[i], RINGS_ANY, select, companion)) {
            *select &= ~RINGS_ANY;
            return true;
        }
    return false;
}

static bool encode_intel(const struct events_cpu *cpu, const char *name, uint64_t *select,
                         uint64_t *companion)
{
    if (strcmp(name, "ref-cycles") == 0) {
        *select = cpu->fixed_counters > REF_CYCLES_COUNTER ? REF_CYCLES_FIXED : REF_CYCLES_GENERAL;
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(intel_events); i++) {
        if (strcmp(intel_events[i].name, name) != 0)
            continue;
        *select = intel_events[i].select;
        return *select != 0 || encode_by_library(cpu, &intel_events[i], select, companion);
    }
    for (const struct events_architectural *e = events_architectural; e->name != NULL; e++)
        if (events_cpu_table(cpu) == NULL && strcasecmp(e->name, name) == 0) {
            *select = e->select;
            return true;
        }
    return false;
}

bool events_generic_encode(const struct events_cpu *cpu, const char *name, uint64_t *select,
                           uint64_t *companion)
{
    *companion = 0;
    return cpu->vendor == RUN_CPU_AMD ? encode_amd(cpu, name, select, companion)
                                      : encode_intel(cpu, name, select, companion);
}
