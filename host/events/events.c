/* Resolves events: generic, the CPU's own by libpfm4, raw. */
#include "host/events/events.h"

#include <stdio.h>
#include <string.h>

#include "host/base/nearest.h"
#include "host/events/events_generic.h"
#include "host/events/events_library.h"
#include "host/events/events_spec.h"
#include "lib/pmu/events.h"
#include "lib/pmu/msr_events.h"

#define INTRODUCTION_BYTES 32u
#define NAMES_BYTES (INTRODUCTION_BYTES + (size_t)NEAREST_COUNT * (NEAREST_NAME_BYTES + 2))
#define SELECT_HIGH (0xfull << 32)
#define SELECT_HIGH_INTEL (0x3ull << 32) /* IN_TX, IN_TXCP */

static void offer(void *context, const char *name, const char * /* description */)
{
    nearest_offer(context, name);
}

/* Writes the nearest names of one CPU, or of all if it is NULL, after an introduction; "" if none
 * is near. */
static void find_nearest(const struct events_cpu *cpu, const char *name, const char *introduction,
                         char out[NAMES_BYTES])
{
    struct nearest nearest;
    const char *table;

    nearest_init(&nearest, name);
    if (cpu != NULL) {
        events_list_generic(cpu, offer, &nearest);
        events_list_registers(cpu, offer, &nearest);
        events_list_own(cpu, offer, &nearest);
    } else {
        for (const struct event_info *e = events_table; e->name != NULL; e++)
            nearest_offer(&nearest, e->name);
        for (const struct msr_event *e = msr_events; e->name != NULL; e++)
            nearest_offer(&nearest, e->name);
        for (size_t i = 0; (table = events_cpu_table_at(i)) != NULL; i++)
            events_library_list(table, offer, &nearest);
    }
    snprintf(out, INTRODUCTION_BYTES, "%s", nearest.count != 0 ? introduction : "");
    nearest_list(&nearest, out + strlen(out), NAMES_BYTES - strlen(out));
}

static bool is_architectural(const char *name)
{
    for (const struct events_architectural *e = events_architectural; e->name != NULL; e++)
        if (strcmp(e->name, name) == 0)
            return true;
    return false;
}

static bool exists_anywhere(const struct events_spec *spec)
{
    uint64_t select;
    uint64_t companion;
    const char *table;

    if (spec->name[0] == 0 || events_find(spec->name, strlen(spec->name)) != NULL ||
        is_architectural(spec->name))
        return true;
    for (size_t i = 0; (table = events_cpu_table_at(i)) != NULL; i++)
        if (events_library_encode(table, spec->name, spec->rings, &select, &companion))
            return true;
    return false;
}

int events_check(const char *text, struct run_failure *failure)
{
    struct events_spec spec;
    char names[NAMES_BYTES];

    if (msr_events_find(text) != NULL)
        return 0;
    if (events_spec_parse(text, &spec, failure) != 0)
        return -1;
    if (exists_anywhere(&spec))
        return 0;
    find_nearest(NULL, spec.name, "; the nearest known: ", names);
    return run_fail(failure, "unknown event '%s'%s; 'hr events' lists them", text, names);
}

bool events_is_register(const char *text)
{
    return msr_events_find(text) != NULL;
}

bool events_is_precise(const char *text)
{
    struct run_failure failure = {0};
    struct events_spec spec;

    return !events_is_register(text) && events_spec_parse(text, &spec, &failure) == 0 &&
           spec.precise;
}

bool events_is_sampled(const struct events_encoding *encoding)
{
    return (encoding->select & (RUN_SELECT_IBS_OP | RUN_SELECT_IBS_FETCH)) != 0;
}

bool events_is_generic(const char *text)
{
    struct run_failure failure = {0};
    struct events_spec spec;

    return events_spec_parse(text, &spec, &failure) == 0 && spec.rings == EVENTS_SELECT_USR &&
           events_find(spec.name, strlen(spec.name)) != NULL;
}

/* Intel: events that read a second register.  SDM volume 3, "Off-core Response Performance
 * Monitoring", "Load Latency Performance Monitoring Facility", "Front-end Events". */
static bool has_companion(const struct events_cpu *cpu, uint64_t select)
{
    static const uint8_t codes[] = {0xb7, 0xbb, 0x2a, 0x2b, 0xcd, 0xc6, 0x0b, 0xad, 0xc2};

    for (size_t i = 0; cpu->vendor == RUN_CPU_INTEL && i < sizeof codes; i++)
        if ((select & 0xff) == codes[i])
            return true;
    return false;
}

static int resolve_raw(const struct events_cpu *cpu, const char *text,
                       const struct events_spec *spec, struct run_failure *failure)
{
    uint64_t high = cpu->vendor == RUN_CPU_AMD ? SELECT_HIGH : SELECT_HIGH_INTEL;
    char described[EVENTS_CPU_TEXT_BYTES];

    if ((spec->select & SELECT_HIGH & ~high) != 0)
        return run_fail(failure, "event '%s': the guest's CPU, %s, has no event numbers above 0xff",
                        text, events_cpu_describe(cpu, described));
    if (spec->companion != 0 && !has_companion(cpu, spec->select))
        return run_fail(failure,
                        "event '%s': offcore_rsp, ldlat and frontend belong to other events on the "
                        "guest's CPU, %s; leave the term out",
                        text, events_cpu_describe(cpu, described));
    return 0;
}

static int not_here(const struct events_cpu *cpu, const char *text, const struct events_spec *spec,
                    struct run_failure *failure)
{
    char described[EVENTS_CPU_TEXT_BYTES];
    char short_name[EVENTS_CPU_TEXT_BYTES];
    char names[NAMES_BYTES];

    find_nearest(cpu, spec->name, "; the nearest there: ", names);
    return run_fail(
        failure,
        "event '%s' does not exist on the guest's CPU, %s%s; 'hr events --cpu %s' lists them", text,
        events_cpu_describe(cpu, described), names, events_cpu_text(cpu, short_name));
}

/* The guest finds out whether this CPU has the register and lets a guest see it. */
static bool has_register(const struct events_cpu *cpu, const char *name)
{
    const struct msr_event *found = msr_events_find(name);

    return found != NULL &&
           msr_events_may_be(found, cpu->vendor == RUN_CPU_INTEL, cpu->vendor == RUN_CPU_AMD,
                             &(struct x86_signature){.family = cpu->family, .model = cpu->model});
}

int events_resolve(const struct events_cpu *cpu, const char *text, struct events_encoding *encoding,
                   struct run_failure *failure)
{
    const char *table = events_cpu_table(cpu);
    struct events_spec spec;

    *encoding = (struct events_encoding){0};
    if (has_register(cpu, text))
        return 0;
    if (events_spec_parse(text, &spec, failure) != 0)
        return -1;
    if (spec.name[0] == 0) {
        encoding->select = spec.select | spec.rings;
        encoding->companion = spec.companion;
        return resolve_raw(cpu, text, &spec, failure);
    }
    if (events_generic_encode(cpu, spec.name, &encoding->select, &encoding->companion)) {
        encoding->select |= spec.rings;
        return 0;
    }
    if (table != NULL && events_library_encode(table, spec.name, spec.rings, &encoding->select,
                                               &encoding->companion))
        return 0;
    return not_here(cpu, text, &spec, failure);
}

void events_list_generic(const struct events_cpu *cpu, events_visit *visit, void *context)
{
    uint64_t select;
    uint64_t companion;

    for (const struct event_info *e = events_table; e->name != NULL; e++)
        if (events_generic_encode(cpu, e->name, &select, &companion))
            visit(context, e->name, e->description);
}

void events_list_registers(const struct events_cpu *cpu, events_visit *visit, void *context)
{
    for (const struct msr_event *e = msr_events; e->name != NULL; e++)
        if (has_register(cpu, e->name))
            visit(context, e->name, e->description);
}

void events_list_own(const struct events_cpu *cpu, events_visit *visit, void *context)
{
    const char *table = events_cpu_table(cpu);

    if (table != NULL) {
        events_library_list(table, visit, context);
        return;
    }
    for (const struct events_architectural *e = events_architectural; e->name != NULL; e++)
        if (cpu->vendor != RUN_CPU_AMD)
            visit(context, e->name, e->description);
}
