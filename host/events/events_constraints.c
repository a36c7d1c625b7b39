/* Facts about single events of single CPU models: counters, off-core pairs, errata. */
#include "host/events/events_constraints.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/array.h"

#define ANY (-1) /* unit mask */
#define ALL 0 /* counters: exempts an event from a later row */

struct constraint {
    uint8_t first, last; /* event codes */
    int umask;
    uint32_t counters;
};

/* Intel's event lists, field "Counter" (with Hyper-Threading off where that makes a difference),
 * and the SDM, volume 3B, "Performance Monitoring Events".  The first row that matches counts; the
 * last one has no counters and matches everything. */
/* clang-format off */
static const struct constraint core2[] = {
    {0x10, 0x10, ANY, 1}, {0x11, 0x13, ANY, 2}, {0x14, 0x14, ANY, 1}, {0x18, 0x18, ANY, 1},
    {0x19, 0x19, ANY, 2}, {0xa1, 0xa1, ANY, 1}, {0xc9, 0xc9, ANY, 1}, {0xcb, 0xcb, ANY, 1},
    {0x00, 0xff, ANY, ALL},
};
static const struct constraint nehalem[] = {
    {0x40, 0x43, ANY, 3}, {0x48, 0x48, ANY, 3}, {0x4e, 0x4e, ANY, 3}, {0x51, 0x51, ANY, 3},
    {0x63, 0x63, ANY, 3}, {0x00, 0xff, ANY, ALL},
};
static const struct constraint westmere[] = {
    {0x51, 0x51, ANY, 3}, {0x60, 0x60, ANY, 1}, {0x63, 0x63, ANY, 3}, {0xb3, 0xb3, ANY, 1},
    {0x00, 0xff, ANY, ALL},
};
static const struct constraint sandy_bridge[] = {
    {0x48, 0x48, ANY, 4}, {0xa3, 0xa3, 2, 4}, {0xa3, 0xa3, 6, 4}, {0xa3, 0xa3, ANY, 0xf},
    {0xc0, 0xc0, 1, 2}, {0xcd, 0xcd, ANY, 8}, {0xd0, 0xd3, ANY, 0xf}, {0x00, 0xff, ANY, ALL},
};
static const struct constraint ivy_bridge[] = {
    {0x48, 0x48, 1, 4}, {0x79, 0x79, 2, 0xf}, {0x9c, 0x9c, 1, 0xf}, {0xa3, 0xa3, 8, 4},
    {0xa3, 0xa3, 0xc, 4}, {0xa3, 0xa3, ANY, 0xf}, {0xc0, 0xc0, 1, 2}, {0xcd, 0xcd, ANY, 8},
    {0xd0, 0xd3, ANY, 0xf}, {0x00, 0xff, ANY, ALL},
};
static const struct constraint haswell[] = { /* and Broadwell */
    {0x48, 0x48, 1, 4}, {0xa3, 0xa3, 8, 4}, {0xa3, 0xa3, 0xc, 4}, {0xa3, 0xa3, ANY, 0xf},
    {0xc0, 0xc0, 1, 2}, {0xcd, 0xcd, ANY, 8}, {0xd0, 0xd3, ANY, 0xf}, {0x00, 0xff, ANY, ALL},
};
static const struct constraint skylake[] = {
    {0xc0, 0xc0, 1, 2}, {0xc6, 0xc6, ANY, 0xf}, {0xcd, 0xcd, ANY, 0xf}, {0xd0, 0xd2, ANY, 0xf},
    {0x00, 0xff, ANY, ALL},
};
static const struct constraint ice_lake[] = {
    {0x03, 0x0a, ANY, 0xf}, {0x1f, 0x28, ANY, 0xf}, {0x32, 0x32, ANY, 0xf}, {0x48, 0x56, ANY, 0xf},
    {0x60, 0x8b, ANY, 0xf}, {0xa3, 0xa3, 0x04, ALL}, {0xa3, 0xa3, 0x10, ALL},
    {0xa3, 0xa3, 0x14, ALL}, {0xa3, 0xa3, ANY, 0xf}, {0xa8, 0xb0, ANY, 0xf}, {0xb7, 0xbd, ANY, 0xf},
    {0xd0, 0xe6, ANY, 0xf}, {0xef, 0xf4, ANY, 0xf}, {0x00, 0xff, ANY, ALL},
};
static const struct constraint sapphire_rapids[] = {
    {0x2e, 0x2e, ANY, ALL}, {0x3c, 0x3c, ANY, ALL}, {0x01, 0x8f, ANY, 0xf}, {0xa3, 0xa3, 1, 0xf},
    {0xa3, 0xa3, 2, 0xf}, {0xa3, 0xa3, 8, 0xf}, {0xa4, 0xa4, 4, 1}, {0xa4, 0xa4, 8, 1},
    {0xcd, 0xcd, 2, 1}, {0xce, 0xce, ANY, 1}, {0xd0, 0xdf, ANY, 0xf}, {0x00, 0xff, ANY, ALL},
};
/* clang-format on */

static const struct {
    const char *table; /* of events_cpu_table */
    const struct constraint *constraints;
    bool
        second_offcore; /* BBH with OFFCORE_RSP1; the event's number from Sapphire Rapids on: 2BH */
} models[] = {
    {"core", core2, false},         {"nhm", nehalem, false},    {"nhm_ex", nehalem, false},
    {"wsm", westmere, true},        {"wsm_dp", westmere, true}, {"snb", sandy_bridge, true},
    {"snb_ep", sandy_bridge, true}, {"ivb", ivy_bridge, true},  {"ivb_ep", ivy_bridge, true},
    {"hsw", haswell, true},         {"hsw_ep", haswell, true},  {"bdw", haswell, true},
    {"bdw_ep", haswell, true},      {"skl", skylake, true},     {"skx", skylake, true},
    {"clx", skylake, true},         {"icl", ice_lake, true},    {"icx", ice_lake, true},
    {"spr", sapphire_rapids, true},
};

/* The processors' specification updates: the first letters of an erratum name the document. */
static const struct {
    const char *tables; /* each followed by a space */
    uint8_t first, last;
    int umask;
    const char *text;
} errata[] = {
    {"nhm nhm_ex ", 0xc5, 0xc5, 0, "erratum AAJ80: it does not count mispredicted branches right"},
    {"snb snb_ep ", 0xd0, 0xd3, ANY,
     "erratum BJ122: events of the core's other hardware thread can be in it; keep that thread "
     "idle"},
    {"ivb ivb_ep ", 0xd0, 0xd3, ANY,
     "erratum BV98: events of the core's other hardware thread can be in it; keep that thread "
     "idle"},
    {"hsw hsw_ep ", 0xd0, 0xd3, ANY,
     "erratum HSD29: events of the core's other hardware thread can be in it; keep that thread "
     "idle"},
    {"bdw bdw_ep ", 0xd2, 0xd2, ANY, "Intel's event list doubts its counts: erratum BDM100"},
    {"skl ", 0x2e, 0x2e, ANY, "Intel's event list doubts its counts: erratum SKL057"},
};

static bool fits(uint64_t select, uint8_t first, uint8_t last, int umask)
{
    uint8_t code = select & 0xff;

    return code >= first && code <= last && (umask == ANY || (int)(select >> 8 & 0xff) == umask);
}

uint32_t events_constraints_counters(const struct events_cpu *cpu, uint64_t select)
{
    const char *table = events_cpu_table(cpu);
    const struct constraint *c;

    for (size_t i = 0; table != NULL && i < ARRAY_COUNT(models); i++) {
        if (strcmp(models[i].table, table) != 0)
            continue;
        for (c = models[i].constraints; !fits(select, c->first, c->last, c->umask); c++)
            continue;
        return c->counters;
    }
    return 0;
}

uint64_t events_constraints_alternative(const struct events_cpu *cpu, uint64_t select)
{
    static const uint8_t pairs[][2] = {{0xb7, 0xbb}, {0xbb, 0xb7}, {0x2a, 0x2b}, {0x2b, 0x2a}};
    const char *table = events_cpu_table(cpu);
    uint64_t rest = select & ~0xffull;

    for (size_t i = 0; table != NULL && i < ARRAY_COUNT(models); i++) {
        if (strcmp(models[i].table, table) != 0 || !models[i].second_offcore ||
            (select >> 8 & 0xff) != 1)
            continue;
        for (size_t j = 0; j < ARRAY_COUNT(pairs); j++)
            if (pairs[j][0] == (select & 0xff))
                return rest | pairs[j][1];
    }
    return 0;
}

const char *events_constraints_erratum(const struct events_cpu *cpu, uint64_t select)
{
    const char *table = events_cpu_table(cpu);
    size_t bytes = table != NULL ? strlen(table) : 0;

    for (size_t i = 0; table != NULL && i < ARRAY_COUNT(errata); i++) {
        const char *name = errata[i].tables;

        if (!fits(select, errata[i].first, errata[i].last, errata[i].umask))
            continue;
        for (; *name != 0; name += strcspn(name, " ") + 1)
            if (strncmp(name, table, bytes) == 0 && name[bytes] == ' ')
                return errata[i].text;
    }
    return NULL;
}
