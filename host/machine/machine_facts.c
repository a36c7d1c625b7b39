/* Gathers a trace's facts about the machine. */
#include "host/machine/machine_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/machine/machine_cpus.h"

#define VALUE_BYTES 512

const char *const machine_groups[MACHINE_GROUPS] = {
    [MACHINE_PROCESSOR] = "Processor", [MACHINE_FREQUENCY] = "Frequency",
    [MACHINE_TOPOLOGY] = "Topology",   [MACHINE_CACHES] = "Caches",
    [MACHINE_FIRMWARE] = "Firmware",   [MACHINE_MEMORY] = "Memory",
    [MACHINE_COUNTERS] = "Counters",   [MACHINE_DURING] = "During the run",
};

/* Writes a fact's value, raw, or "" if unknown; returns its number, if it has one. */
typedef double render(const struct trace_info *info, const char *key, char out[VALUE_BYTES]);

static double bytes_of(const struct trace_info *info, const char *key, char out[VALUE_BYTES])
{
    const char *text = trace_info_text(info, key, "");
    char *end;
    uint64_t bytes = strtoull(text, &end, 10);

    if (*text >= '0' && *text <= '9' && *end == 0)
        text_bytes(out, bytes);
    else
        snprintf(out, VALUE_BYTES, "%s", text);
    return 0;
}

static double megahertz(const struct trace_info *info, const char *key, char out[VALUE_BYTES])
{
    const char *text = trace_info_text(info, key, "");

    if (*text != 0)
        snprintf(out, VALUE_BYTES, "%.100s MHz", text);
    return 0;
}

/* Renders "3 268042240": ranges and bytes. */
static double ranges(const struct trace_info *info, const char *key, char out[VALUE_BYTES])
{
    const char *text = trace_info_text(info, key, "");
    char bytes[TEXT_QUANTITY_BYTES];
    unsigned long long count, sum;
    int used = 0;

    if (sscanf(text, "%10llu %20llu%n", &count, &sum, &used) == 2 && text[used] == 0)
        snprintf(out, VALUE_BYTES, "%s in %llu %s", text_bytes(bytes, sum), count,
                 count == 1 ? "range" : "ranges");
    else
        snprintf(out, VALUE_BYTES, "%s", text);
    return 0;
}

/* Renders "maker product version", from keys with these endings; `key` is their prefix. */
static double made_by(const struct trace_info *info, const char *key, char out[VALUE_BYTES])
{
    static const char *const parts[] = {"_maker", "_vendor", "_product", "_version", "_date"};
    size_t used = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        const char *text;

        snprintf(name, sizeof name, "%s%s", key, parts[i]);
        text = trace_info_text(info, name, "");
        if (*text != 0)
            used += (size_t)snprintf(out + used, VALUE_BYTES - used, "%s%.90s",
                                     used != 0 ? ", " : "", text);
    }
    return 0;
}

static double clock_of(const struct trace_info *info, const char * /* key */, char out[VALUE_BYTES])
{
    double hz = (double)info->clock.ticks_per_second;

    if (!info->has_clock)
        return 0;
    snprintf(out, VALUE_BYTES, "%.3f MHz (%s)", hz / 1e6,
             trace_info_clock_method(info->clock.method));
    return hz;
}

static double mean_frequency(const struct trace_info *info, const char * /* key */,
                             char out[VALUE_BYTES])
{
    const struct machine_run run = machine_run(info);
    char least[MACHINE_HZ_BYTES], most[MACHINE_HZ_BYTES];

    if (!run.has_frequency)
        return 0;
    machine_hz(run.least_hz, least);
    machine_hz(run.most_hz, most);
    if (strcmp(least, most) == 0)
        snprintf(out, VALUE_BYTES, "%s", most);
    else
        snprintf(out, VALUE_BYTES, "%s to %s", least, most);
    return (run.least_hz + run.most_hz) / 2;
}

static double smis(const struct trace_info *info, const char * /* key */, char out[VALUE_BYTES])
{
    const struct machine_run run = machine_run(info);

    if (run.has_smis)
        text_count(out, run.smis);
    return 0;
}

static double throttling(const struct trace_info *info, const char * /* key */,
                         char out[VALUE_BYTES])
{
    const struct machine_run run = machine_run(info);

    if (run.has_thermal && run.events == 0)
        snprintf(out, VALUE_BYTES, "none");
    else
        machine_events(run.events, out);
    return 0;
}

/* By group.  A key without a render function is a text of the trace. */
static const struct field {
    const char *key; /* in the trace, or the prefix of several */
    const char *name; /* in JSON and CSV */
    const char *label;
    enum machine_group group;
    unsigned int rank;
    render *render;
    bool words;
} fields[] = {
    {"machine.model", "processor", "model", MACHINE_PROCESSOR, 0, NULL, false},
    {"machine.vendor", "vendor", "vendor", MACHINE_PROCESSOR, 1, NULL, false},
    {"machine.family", "family", "signature", MACHINE_PROCESSOR, 2, NULL, false},
    {"machine.microcode", "microcode", "microcode", MACHINE_PROCESSOR, 3, NULL, false},
    {"machine.hypervisor", "hypervisor", "hypervisor", MACHINE_PROCESSOR, 4, NULL, false},
    {"boot.entry", "boot_entry", "started by", MACHINE_PROCESSOR, 5, NULL, false},
    {"machine.features", "features", "features", MACHINE_PROCESSOR, 40, NULL, true},
    {"", "clock", "TSC", MACHINE_FREQUENCY, 12, clock_of, false},
    {"machine.tsc", "tsc", "TSC's rate", MACHINE_FREQUENCY, 13, NULL, false},
    {"machine.base_mhz", "base_mhz", "base", MACHINE_FREQUENCY, 10, megahertz, false},
    {"machine.max_mhz", "max_mhz", "largest", MACHINE_FREQUENCY, 11, megahertz, false},
    {"machine.bus_mhz", "bus_mhz", "bus", MACHINE_FREQUENCY, 14, megahertz, false},
    {"machine.turbo", "turbo", "turbo", MACHINE_FREQUENCY, 6, NULL, false},
    {"machine.hwp", "hwp", "chosen by itself", MACHINE_FREQUENCY, 15, NULL, false},
    {"machine.pstate", "pstate", "state at boot", MACHINE_FREQUENCY, 16, NULL, false},
    {"machine.packages", "packages", "packages", MACHINE_TOPOLOGY, 19, NULL, false},
    {"machine.cores", "cores", "cores", MACHINE_TOPOLOGY, 20, NULL, false},
    {"machine.threads", "threads", "threads", MACHINE_TOPOLOGY, 21, NULL, false},
    {"machine.cpus", "cpus", "CPUs that ran", MACHINE_TOPOLOGY, 22, NULL, false},
    {"machine.program_apic_ids", "program_apic_ids", "the program's", MACHINE_TOPOLOGY, 24, NULL,
     false},
    {"machine.siblings_active", "siblings_active", "siblings in use", MACHINE_TOPOLOGY, 17, NULL,
     false},
    {"machine.siblings_idle", "siblings_idle", "siblings at rest", MACHINE_TOPOLOGY, 23, NULL,
     false},
    {"machine.cache.L1d", "cache_l1d", "L1 data", MACHINE_CACHES, 31, NULL, false},
    {"machine.cache.L1i", "cache_l1i", "L1 instructions", MACHINE_CACHES, 32, NULL, false},
    {"machine.cache.L2", "cache_l2", "L2", MACHINE_CACHES, 33, NULL, false},
    {"machine.cache.L3", "cache_l3", "L3", MACHINE_CACHES, 34, NULL, false},
    {"machine.system", "system", "machine", MACHINE_FIRMWARE, 25, made_by, false},
    {"machine.board", "board", "board", MACHINE_FIRMWARE, 26, made_by, false},
    {"machine.bios", "bios", "firmware", MACHINE_FIRMWARE, 18, made_by, false},
    {"machine.smbios", "smbios", "SMBIOS", MACHINE_FIRMWARE, 41, NULL, false},
    {"machine.memory_modules", "memory_modules", "modules", MACHINE_MEMORY, 27, NULL, false},
    {"machine.memory_slots", "memory_slots", "slots in use", MACHINE_MEMORY, 28, NULL, false},
    {"machine.memory_installed", "memory_installed", "installed", MACHINE_MEMORY, 29, bytes_of,
     false},
    {"machine.memory", "memory", "for the kernel", MACHINE_MEMORY, 30, bytes_of, false},
    {"machine.map_ram", "map_ram", "map: RAM", MACHINE_MEMORY, 42, ranges, false},
    {"machine.map_reserved", "map_reserved", "map: reserved", MACHINE_MEMORY, 43, ranges, false},
    {"machine.map_buffer", "map_buffer", "map: results", MACHINE_MEMORY, 44, ranges, false},
    {"pmu.driver", "counters", "driver", MACHINE_COUNTERS, 35, NULL, false},
    {"pmu.version", "counters_version", "version", MACHINE_COUNTERS, 36, NULL, false},
    {"pmu.counters", "counters_shape", "counters", MACHINE_COUNTERS, 37, NULL, false},
    {"kernel.version", "kernel", "Microtome", MACHINE_COUNTERS, 38, NULL, false},
    {"", "frequency", "mean frequency", MACHINE_DURING, 7, mean_frequency, false},
    {"", "smis", "SMIs", MACHINE_DURING, 9, smis, false},
    {"", "throttled", "throttled", MACHINE_DURING, 8, throttling, false},
};
_Static_assert(sizeof fields / sizeof fields[0] <= MACHINE_FACTS_MAX, "facts");

static int add_fact(struct machine *machine, const struct trace_info *info,
                    const struct field *field)
{
    char room[VALUE_BYTES] = "";
    const char *value = room;
    double number = 0;
    struct machine_fact *fact = &machine->facts[machine->fact_count];

    if (field->render != NULL)
        number = field->render(info, field->key, room);
    else
        value = trace_info_text(info, field->key, "");
    if (*value == 0)
        return 0;
    *fact = (struct machine_fact){
        .key = field->name,
        .label = field->label,
        .group = field->group,
        .rank = field->rank,
        .value = strdup(value),
        .number = number,
        .words = field->words,
    };
    if (fact->value == NULL)
        return -ENOMEM;
    machine->fact_count++;
    return 0;
}

static int warn(struct machine *machine, const char *what, const char *why)
{
    char *text;

    if (machine->warning_count == MACHINE_WARNINGS_MAX)
        return 0;
    if (asprintf(&text, "%s%s", what, why) < 0)
        return -ENOMEM;
    machine->warnings[machine->warning_count++] = text;
    return 0;
}

/* Adds warnings about everything that makes figures doubtful. */
static int add_warnings(struct machine *machine, const struct trace_info *info)
{
    char trouble[MACHINE_TROUBLE_BYTES];
    bool virtual_time = info->clock.method == HR_CLOCK_VIRTUAL;
    const char *active = trace_info_text(info, "machine.siblings_active", "");
    bool hypervisor = strcmp(trace_info_text(info, "machine.hypervisor", "none"), "none") != 0;
    int error = 0;

    if (machine_trouble(info, trouble))
        error = warn(machine, "during the run: ", trouble);
    if (error == 0 && *active != 0)
        error =
            warn(machine, "other threads of the program's cores were in use: APIC ids ", active);
    if (error == 0 && !virtual_time && !hypervisor &&
        strcmp(trace_info_text(info, "machine.tsc", ""), "not invariant") == 0)
        error = warn(machine,
                     "the TSC's rate depends on the processor's state: ", "times may be wrong");
    if (error == 0 && strcmp(trace_info_text(info, "machine.turbo", ""), "on") == 0)
        error = warn(machine, "turbo is on: ",
                     "the frequency depends on load and temperature; the firmware can turn it off");
    return error;
}

int machine_gather(struct machine *machine, const struct trace_info *info)
{
    int error = 0;

    *machine = (struct machine){0};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && error == 0; i++)
        error = add_fact(machine, info, &fields[i]);
    return error != 0 ? error : add_warnings(machine, info);
}

void machine_free(struct machine *machine)
{
    for (size_t i = 0; i < machine->fact_count; i++)
        free(machine->facts[i].value);
    for (size_t i = 0; i < machine->warning_count; i++)
        free(machine->warnings[i]);
    *machine = (struct machine){0};
}

const struct machine_fact *machine_find(const struct machine *machine, const char *key)
{
    for (size_t i = 0; i < machine->fact_count; i++)
        if (strcmp(machine->facts[i].key, key) == 0)
            return &machine->facts[i];
    return NULL;
}
