/* hr events: lists the events of a CPU by name. */
#include <argp.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/events/events.h"
#include "host/events/events_constraints.h"
#include "host/events/events_library.h"
#include "host/events/events_preset.h"
#include "host/events/events_spec.h"
#include "host/metrics/formula.h"
#include "lib/pmu/msr_events.h"

#define BITS_BYTES 40
#define NOTES_BYTES 160

struct listing {
    struct events_cpu cpu;
    const char *pattern; /* NULL: everything */
    const char *heading; /* before the next line; NULL: printed */
    size_t found;
};

static const struct argp_option events_options[] = {
    {"cpu", 'c', "CPU", 0,
     "VENDOR-FAMILY-MODEL such as intel-6-106, a CPU model of QEMU such as "
     "Icelake-Server,model=106, or a table of libpfm4 such as icx (default: this machine's)",
     0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct listing *l = state->input;

    switch (key) {
    case 'c':
        if (events_cpu_parse(&l->cpu, argument) != 0 && events_cpu_of_table(&l->cpu, argument) != 0)
            argp_error(state,
                       "--cpu %s: neither VENDOR-FAMILY-MODEL, such as intel-6-106 or amd-25-1, "
                       "nor a CPU model of QEMU, nor a table of libpfm4, such as icx",
                       argument);
        return 0;
    case ARGP_KEY_ARG:
        if (l->pattern != NULL)
            return ARGP_ERR_UNKNOWN;
        l->pattern = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A pattern with *, ? or [ must match the whole name, any other a part of it. */
static bool is_wanted(const struct listing *l, const char *name)
{
    if (l->pattern == NULL)
        return true;
    if (strpbrk(l->pattern, "*?[") != NULL)
        return fnmatch(l->pattern, name, FNM_CASEFOLD) == 0;
    return strcasestr(name, l->pattern) != NULL;
}

/* Writes the event's requirements and errata: " [counters 0-3]". */
static char *note(const struct listing *l, const struct events_encoding *e, char out[NOTES_BYTES])
{
    uint32_t counters = e->select != 0 ? events_constraints_counters(&l->cpu, e->select) : 0;
    const char *erratum = events_constraints_erratum(&l->cpu, e->select);
    int first = ffs((int)counters) - 1;
    int last = counters != 0 ? 31 - __builtin_clz(counters) : 0;
    size_t used = 0;

    out[0] = 0;
    if (counters != 0 && first == last)
        used = (size_t)snprintf(out, NOTES_BYTES, " [counter %d]", first);
    else if (counters != 0) /* the tables have no counters with a gap between them */
        used = (size_t)snprintf(out, NOTES_BYTES, " [counters %d-%d]", first, last);
    if (erratum != NULL)
        snprintf(out + used, NOTES_BYTES - used, " [%s]", erratum);
    return out;
}

/* Writes the encoding in hexadecimal, without rings; "" if the name alone cannot be encoded. */
static void encode(const struct listing *l, const char *name, char out[BITS_BYTES],
                   struct events_encoding *e)
{
    const char *table = events_cpu_table(&l->cpu);
    struct run_failure failure = {0};

    out[0] = 0;
    if (events_is_register(name)) {
        *e = (struct events_encoding){0};
        if (msr_events_find(name)->msr != 0)
            snprintf(out, BITS_BYTES, "MSR %x", msr_events_find(name)->msr);
        return;
    }
    /* Some names are too long for -e; then the numbers help. */
    if (events_resolve(&l->cpu, name, e, &failure) != 0 &&
        (table == NULL ||
         !events_library_encode(table, name, EVENTS_SELECT_USR, &e->select, &e->companion))) {
        *e = (struct events_encoding){0};
        return;
    }
    e->select &= ~(EVENTS_SELECT_USR | EVENTS_SELECT_OS);
    if (e->companion != 0)
        snprintf(out, BITS_BYTES, "%lx+%lx", e->select, e->companion);
    else
        snprintf(out, BITS_BYTES, "%lx", e->select);
}

/* Before a line: the heading, if this is the first one below it. */
static void print_heading(struct listing *l)
{
    if (l->heading != NULL)
        printf("%s%s\n", l->found != 0 ? "\n" : "", l->heading);
    l->heading = NULL;
    l->found++;
}

static void print_event(void *context, const char *name, const char *description)
{
    struct listing *l = context;
    char bits[BITS_BYTES];
    struct events_encoding e;
    char notes[NOTES_BYTES];

    if (!is_wanted(l, name))
        return;
    print_heading(l);
    encode(l, name, bits, &e);
    printf("  %-44s %-10s %s%s\n", name, bits, description != NULL ? description : "",
           note(l, &e, notes));
}

static void list_groups(struct listing *l)
{
    char members[EVENTS_PRESET_BYTES];

    l->heading = "Groups:";
    for (const struct events_preset *g = events_presets; g->name != NULL; g++) {
        events_preset_list(g->name, strlen(g->name), &l->cpu, members);
        if (!is_wanted(l, g->name) || members[0] == 0)
            continue;
        print_heading(l);
        printf("  %-44s %s: %s\n", g->name, g->description, members);
    }
}

/* Each metric is a group of the events that it needs. */
static void list_metrics(struct listing *l)
{
    char members[EVENTS_PRESET_BYTES], name[FORMULA_NAME_BYTES];
    struct metrics_set set;

    l->heading = "Metrics:";
    events_preset_metrics(&l->cpu, &set);
    for (uint32_t i = 0; i < set.count; i++) {
        const struct metric *m = set.all[i];

        snprintf(name, sizeof name, "@%s", m->name);
        events_preset_list(name, strlen(name), &l->cpu, members);
        if (!is_wanted(l, name) || members[0] == 0)
            continue;
        print_heading(l);
        printf("  %-44s %-10s %s = %s\n", name, m->unit, m->description, m->formula);
    }
}

static int list(struct listing *l)
{
    char described[EVENTS_CPU_TEXT_BYTES];
    char heading[2 * EVENTS_CPU_TEXT_BYTES];

    events_cpu_describe(&l->cpu, described);
    snprintf(heading, sizeof heading, "Generic events on %s:", described);
    l->heading = heading;
    events_list_generic(&l->cpu, print_event, l);
    l->heading = "Registers that count all the time, in all rings:";
    events_list_registers(&l->cpu, print_event, l);
    list_groups(l);
    list_metrics(l);
    snprintf(heading, sizeof heading, "Events of %s:", described);
    if (events_cpu_table(&l->cpu) == NULL)
        snprintf(heading, sizeof heading, "Architectural events:");
    l->heading = heading;
    events_list_own(&l->cpu, print_event, l);
    if (events_cpu_table(&l->cpu) == NULL)
        error_print("%s is in no table of libpfm4: architectural events only; raw events (rUUEE, "
                    "cpu/event=...,umask=.../) work too",
                    described);
    if (l->found != 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "no event of %s matches '%s'", described, l->pattern);
}

int events_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = events_options,
        .parser = parse_option,
        .args_doc = "[PATTERN]",
        .doc = "Lists the events of a CPU with their encodings and descriptions.\v"
               "PATTERN is a part of the name, or with *, ? and [ a pattern for all of it.  An "
               "encoding is hexadecimal, as -e rHEX takes it; after a plus, the value of the "
               "event's companion register.  In brackets: the only counters that "
               "can count the event, and errata.",
    };
    struct listing listing = {.pattern = NULL};

    events_cpu_from_host(&listing.cpu);
    command_line_parse(&argp, argc, argv, 0, &listing);
    return list(&listing);
}
