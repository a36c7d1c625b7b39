/* Parses and checks the options for probes. */
#include "host/options/options_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/option.h"
#include "host/base/units.h"
#include "host/options/options_sampling.h"
#include "lib/boot/modes.h"

enum {
    KEY_PROBE = 640,
    KEY_PROBES,
    KEY_PROBE_ARGS,
    KEY_PROBE_EVERY,
    KEY_PROBE_STACK,
    KEY_ALLOC,
    KEY_ALLOC_MIN,
    KEY_ALLOC_EVERY,
    KEY_ALLOC_LIBRARY
};

static const struct argp_option probe_options[] = {
    {"probe", KEY_PROBE, "SPEC", 0,
     "record each entry of a function and each return: FUNC, a glob, OBJECT:FUNC or @all; or when "
     "an instruction is reached: FUNC+0xOFF, FILE:LINE or 0xADDRESS; may be repeated",
     1},
    {"probes", KEY_PROBES, "FILE", 0, "as --probe for each line of FILE; # begins a comment", 1},
    {"probe-args", KEY_PROBE_ARGS, "N", 0,
     "with each entry record the first N integer arguments, with each return the result (0 to 6)",
     1},
    {"probe-every", KEY_PROBE_EVERY, "N", 0,
     "record no entries and returns; take a sample at every Nth of a point instead", 1},
    {"probe-stack", KEY_PROBE_STACK, 0, 0,
     "take a sample with its call stack (-g) at each entry, too", 1},
    {"alloc", KEY_ALLOC, 0, 0,
     "record what the program allocates and frees (malloc, operator new, mmap and their kin), for "
     "'hr memory'; with -g with the call stacks",
     1},
    {"alloc-min", KEY_ALLOC_MIN, "SIZE", 0, "... allocations of SIZE and more alone, as 4k", 1},
    {"alloc-every", KEY_ALLOC_EVERY, "N", 0, "... every Nth allocation of a thread alone", 1},
    {"alloc-library", KEY_ALLOC_LIBRARY, "FILE", 0,
     "... the allocators of a library, too, that the program loads by dlopen; may be repeated", 1},
    {0},
};

/* Keeps a copy, which lives as long as the process. */
static int append(struct options_list *list, const char *text, struct run_failure *failure)
{
    if (array_grow(&list->items, list->count, sizeof *list->items) != 0 ||
        (list->items[list->count] = strdup(text)) == NULL)
        return run_fail(failure, "out of memory; end other programs");
    list->count++;
    return 0;
}

/* Takes a line without its comment. */
static int take_line(struct options *o, char *line, struct run_failure *failure)
{
    char *start = line + strspn(line, " \t");

    start[strcspn(start, "#\r\n")] = 0;
    for (size_t bytes = strlen(start); bytes > 0 && strchr(" \t", start[bytes - 1]) != NULL;)
        start[--bytes] = 0;
    return start[0] != 0 ? append(&o->probes, start, failure) : 0;
}

static int read_file(struct options *o, const char *path, struct run_failure *failure)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int result = 0;

    if (file == NULL)
        return run_fail(failure, "--probes %s: %s", path, strerror(errno));
    while (result == 0 && getline(&line, &room, file) >= 0)
        result = take_line(o, line, failure);
    if (result == 0 && ferror(file))
        result = run_fail(failure, "--probes %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return result;
}

static int set_number(const char *name, const char *text, uint64_t least, uint64_t most,
                      uint32_t *number, struct run_failure *failure)
{
    uint64_t value;

    if (option_number(text, least, most, &value) != 0)
        return run_fail(failure, "--%s %s: not a number from %lu to %lu", name, text, least, most);
    *number = (uint32_t)value;
    return 0;
}

static int set(struct options *o, int key, const char *argument, struct run_failure *failure)
{
    switch (key) {
    case KEY_PROBE:
        return append(&o->probes, argument, failure);
    case KEY_PROBES:
        return read_file(o, argument, failure);
    case KEY_PROBE_ARGS:
        return set_number("probe-args", argument, 0, HR_PROBE_ARGUMENTS_MAX, &o->probe_arguments,
                          failure);
    case KEY_PROBE_EVERY:
        return set_number("probe-every", argument, 1, OPTIONS_PROBE_EVERY_MAX, &o->probe_every,
                          failure);
    case KEY_ALLOC:
        o->alloc = true;
        return 0;
    case KEY_ALLOC_MIN:
        if (units_parse_bytes(argument, &o->alloc_min) != 0)
            return run_fail(failure, "--alloc-min %s: not a size such as 64 or 4k", argument);
        return 0;
    case KEY_ALLOC_EVERY:
        return set_number("alloc-every", argument, 1, OPTIONS_PROBE_EVERY_MAX, &o->alloc_every,
                          failure);
    case KEY_ALLOC_LIBRARY:
        return append(&o->alloc_libraries, argument, failure);
    default:
        o->probe_stack = true;
        return 0;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options_parsing *parsing = state->input;
    const struct argp_option *option = probe_options;

    while (option->key != 0 && option->key != key)
        option++;
    if (option->key == 0 || set(parsing->options, key, argument, parsing->failure) != 0)
        return option->key == 0 ? ARGP_ERR_UNKNOWN : EINVAL;
    if (parsing->given == NULL)
        parsing->given = option->name;
    return 0;
}

const struct argp options_probe_argp = {.options = probe_options, .parser = parse};

int options_probe_imply(struct options *o, struct run_failure *failure)
{
    o->waits |= o->probes.count != 0 || o->mode == HR_MODE_LATENCY;
    if (!o->probe_stack || o->stacks.kind != 0)
        return 0;
    return options_set_stacks(o, NULL, failure);
}

int options_probe_finish(const struct options *o, struct run_failure *failure)
{
    const char *needs = o->probe_stack            ? "probe-stack"
                        : o->probe_every != 0     ? "probe-every"
                        : o->probe_arguments != 0 ? "probe-args"
                                                  : NULL;

    if (!o->alloc && (o->alloc_min != 0 || o->alloc_every != 0 || o->alloc_libraries.count != 0))
        return run_fail(failure, "--%s: nothing is recorded; add --alloc",
                        o->alloc_min != 0     ? "alloc-min"
                        : o->alloc_every != 0 ? "alloc-every"
                                              : "alloc-library");
    if (o->alloc && (o->mode == HR_MODE_EXACT || o->mode == HR_MODE_LATENCY))
        return run_fail(failure, "--alloc: --mode %s cannot have probes; leave one of the two out",
                        o->mode == HR_MODE_EXACT ? "exact" : "latency");
    if (o->probes.count == 0 && needs != NULL)
        return run_fail(failure, "--%s: there is no probe; name a function with --probe", needs);
    if (o->probes.count != 0 && o->mode == HR_MODE_EXACT)
        return run_fail(failure, "--probe: --mode exact counts every instruction, and those of "
                                 "probes, too; leave one of the two out");
    if (o->probes.count != 0 && o->mode == HR_MODE_LATENCY)
        return run_fail(failure, "--probe: --mode latency records the functions that have hooks; "
                                 "leave one of the two out, or take --mode off with --probe");
    if (o->probe_every != 0 && (o->mode == HR_MODE_OFF || o->mode == HR_MODE_PEBS))
        return run_fail(failure,
                        "--probe-every: --mode %s takes no samples at probes; "
                        "--mode instructed takes these alone",
                        modes_name(o->mode));
    if (o->probe_every != 0 && (o->probe_arguments != 0 || o->probe_stack))
        return run_fail(failure,
                        "--probe-every: its samples take the place of entries and returns; leave "
                        "--%s out",
                        o->probe_stack ? "probe-stack" : "probe-args");
    if (o->events.count + o->probe_arguments > HR_EVENTS_MAX)
        return run_fail(failure,
                        "--probe-args %u: with %zu events these are more than the %d values that a "
                        "hit holds; name fewer events with -e",
                        o->probe_arguments, o->events.count, HR_EVENTS_MAX);
    if (o->alloc && o->events.count + HR_ALLOCATION_VALUES > HR_EVENTS_MAX)
        return run_fail(failure,
                        "--alloc: it records %d values, and with %zu events these are more than "
                        "the %d that a hit holds; name fewer events with -e",
                        HR_ALLOCATION_VALUES, o->events.count, HR_EVENTS_MAX);
    return 0;
}
