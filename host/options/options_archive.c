/* Parses the options that determine an archive. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/option.h"
#include "host/base/units.h"
#include "host/options/options_archive.h"
#include "host/options/options_events.h"
#include "host/options/options_probe.h"
#include "host/options/options_sampling.h"

#define EVENTS_DEFAULT "instructions,cycles,branches,branch-misses,cache-misses"
#define EVENTS_PEBS "mem-loads:p,mem-stores:p" /* the default of mode pebs */

enum { /* options without a letter; the commands' own begin at 256 */
       KEY_CPUS = 512,
       KEY_PROCESSES,
       KEY_MEM,
       KEY_PAUSED,
       KEY_PYTHON,
       KEY_WAITS,
       KEY_PAGES,
       KEY_PAGES_SPLIT,
       KEY_MAX_OVERHEAD,
       KEY_COUNTERS_EVERY,
       KEY_JITTER,
       KEY_LOAD_LATENCY,
       KEY_REGS,
       KEY_FILE,
       KEY_ROOT,
       KEY_ENV,
       KEY_PANIC_TEST,
       KEY_TARGET_CPU,
       KEY_PREFAULT,
       KEY_KEEP_FILES,
       KEY_STDIN,
       KEY_DURATION,
};

static const char default_events[] = EVENTS_DEFAULT;

static const struct argp_option archive_options[] = {
    {"event", 'e', "LIST", 0,
     "events, comma-separated, see 'hr events' (default " EVENTS_DEFAULT
     "; without counters the first alone); none: addresses only",
     1},
    {"interval", 'i', "TIME", 0, "sampling interval, from 500ns (default 10us)", 1},
    {"mode", 'm', "MODE", 0,
     "timer (default), ipi, overflow, pebs, instructed, exact, latency or off", 1},
    {"count", 'c', "N", 0,
     "sample every N events of the first event (counter overflow); --mode pebs: of each precise "
     "one (default 1009)",
     1},
    {"freq", 'F', "HZ", 0, "overflow sampling whose period adapts to HZ samples a second", 1},
    {"call-graph", 'g', "KIND", OPTION_ARG_OPTIONAL,
     "record call stacks: fp[,FRAMES] by frame pointers (default), dwarf[,BYTES] for unwinding, "
     "python[,FRAMES] of CPython's frames",
     1},
    {"python", KEY_PYTHON, 0, 0,
     "record Python's functions and lines (CPython 3.11 to 3.13): its frames are the call stacks",
     1},
    {"waits", KEY_WAITS, 0, 0,
     "record where threads begin to wait, and for which lock; with -g the call stack, too", 1},
    {"pages", KEY_PAGES, "TIME", 0,
     "record which pages the program read or wrote, every TIME (hr memory shows them)", 1},
    {"pages-split", KEY_PAGES_SPLIT, 0, 0,
     "memory has no 2 MiB pages, so --pages tells 4 KiB apart", 1},
    {"paused", KEY_PAUSED, 0, 0, "sample only from the program's hr_start() or 'hr ctl start' on",
     1},
    {"max-overhead", KEY_MAX_OVERHEAD, "SHARE", 0,
     "sampling takes at most this share of the time, 1% to 90% (default 50%); samples that would "
     "take more are left out and counted",
     1},
    {"counters-every", KEY_COUNTERS_EVERY, "N", 0,
     "read the counters with every Nth sample only; each sample has its address", 1},
    {"load-latency", KEY_LOAD_LATENCY, "CYCLES", 0,
     "--mode pebs: records of loads that take longer than this (mem-loads)", 1},
    {"jitter", KEY_JITTER, 0, 0, "--mode pebs: periods are random, up to an eighth off", 1},
    {"regs", KEY_REGS, 0, 0, "--mode pebs: records have the registers, too", 1},
    {"cpus", KEY_CPUS, "N", 0, "CPUs for the program beside the service CPU; 0: one for both", 2},
    {"processes", KEY_PROCESSES, "N", 0,
     "processes that there may be at once, zombies included (default 512)", 2},
    {"mem", KEY_MEM, "SIZE", 0, "memory of the kernel and the program (default 1G)", 2},
    {"prefault", KEY_PREFAULT, 0, 0, "fill memory when it is mapped: no page faults later", 2},
    {"target-cpu", KEY_TARGET_CPU, "LIST", 0,
     "encode the events for these CPUs now, named as for 'hr events --cpu' (a table, such as icx: "
     "all its models), and run on no other; all: for every CPU that is known",
     2},
    {"root", KEY_ROOT, "DIR", 0,
     "take the tree DIR for / of the guest; hr run: the program with all its files comes from "
     "there",
     3},
    {"file", KEY_FILE, "PATH", 0, "give the program this file or directory at its own path", 3},
    {"duration", KEY_DURATION, "TIME", 0,
     "send the program SIGTERM after this time of its clock, and SIGKILL 5 s later", 4},
    {"env", KEY_ENV, "K=V", 0, "set an environment variable of the program; K alone copies yours",
     3},
    {"verbose", 'v', 0, 0, "show what was packed and chosen, and the kernel's log, on stderr", 5},
    {"panic-test", KEY_PANIC_TEST, "WHERE", OPTION_HIDDEN, "", 9},
    {0},
};

static const struct argp_option kept_options[] = {
    {"keep-files", KEY_KEEP_FILES, 0, 0,
     "bring back the files that the program will have made or changed", 3},
    {"stdin", KEY_STDIN, "FILE", 0,
     "the program's standard input, - for this command's own (default: none)", 3},
    {0},
};

static int append(struct options_list *list, const char *item, struct run_failure *failure)
{
    if (array_grow(&list->items, list->count, sizeof *list->items) != 0)
        return run_fail(failure, "out of memory; end other programs");
    list->items[list->count++] = item;
    return 0;
}

static int set_memory(struct options *o, const char *text, struct run_failure *failure)
{
    o->memory_given = true;
    if (o->unattended && strcmp(text, "all") == 0) {
        o->memory_bytes = UINT64_MAX;
        return 0;
    }
    if (units_parse_bytes(text, &o->memory_bytes) != 0)
        return run_fail(failure, "--mem %s: not a size; write 64M or 2G", text);
    o->memory_bytes &= ~((1ull << 20) - 1);
    if (o->memory_bytes < OPTIONS_MEMORY_MIN_BYTES)
        return run_fail(failure,
                        "--mem %s: too little memory for the kernel and a program; use 64M or more",
                        text);
    return 0;
}

static int set_cpus(struct options *o, const char *text, struct run_failure *failure)
{
    uint64_t value;

    if (option_number(text, 0, OPTIONS_CPUS_MAX, &value) != 0)
        return run_fail(failure, "--cpus %s: not a number from 0 to %d", text, OPTIONS_CPUS_MAX);
    o->cpus = (int)value;
    return 0;
}

static int set_processes(struct options *o, const char *text, struct run_failure *failure)
{
    uint64_t value;

    if (option_number(text, 1, OPTIONS_PROCESSES_MAX, &value) != 0)
        return run_fail(failure, "--processes %s: not a number from 1 to %d", text,
                        OPTIONS_PROCESSES_MAX);
    o->processes = (uint32_t)value;
    return 0;
}

int options_set_timeout(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_time(text, UNITS_NEEDED, &o->timeout_ns) != 0 || o->timeout_ns == 0)
        return run_fail(failure, "--timeout %s: not a time with a unit; write 10s or 500ms", text);
    return 0;
}

static int set_duration(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_time(text, UNITS_NEEDED, &o->duration_ns) != 0 || o->duration_ns == 0)
        return run_fail(failure, "--duration %s: not a time with a unit; write 10s or 500ms", text);
    return 0;
}

static int set_environment(struct options *o, const char *text, struct run_failure *failure)
{
    const char *value;
    char *copied;

    if (text[0] == '=' || text[0] == 0)
        return run_fail(failure, "--env %s: the name is missing; write K=V", text);
    if (strchr(text, '=') != NULL)
        return append(&o->environment, text, failure);
    value = getenv(text);
    if (value == NULL)
        return run_fail(failure, "--env %s: not in your environment; write %s=VALUE", text, text);
    if (asprintf(&copied, "%s=%s", text, value) < 0)
        return run_fail(failure, "out of memory; end other programs");
    return append(&o->environment, copied, failure);
}

/* Everything after the program's name belongs to the program. */
static void take_program(struct options *o, struct argp_state *state)
{
    o->program = &state->argv[state->next - 1];
    o->program_count = (size_t)(state->argc - (state->next - 1));
    state->next = state->argc;
}

static error_t parse_sampling_option(int key, char *argument, struct argp_state *state)
{
    struct options_parsing *parse = state->input;
    struct options *o = parse->options;

    switch (key) {
    case 'e':
        parse->event_list = argument;
        return 0;
    case 'i':
        return options_set_interval(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'm':
        return options_set_mode(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'c':
        return options_set_period(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'F':
        return options_set_frequency(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'g':
        if (argument == NULL && options_stacks_follow(state->argv[state->next]))
            argument = state->argv[state->next++];
        return options_set_stacks(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_PYTHON:
        return options_set_stacks(o, "python", parse->failure) == 0 ? 0 : EINVAL;
    case KEY_MAX_OVERHEAD:
        return options_set_overhead(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_LOAD_LATENCY:
        return options_set_load_latency(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_COUNTERS_EVERY:
        return options_set_counters_every(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_other_option(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_PAUSED, OPTION_FLAG, .offset = offsetof(struct options, paused)},
        {KEY_JITTER, OPTION_FLAG, .offset = offsetof(struct options, jitter)},
        {KEY_REGS, OPTION_FLAG, .offset = offsetof(struct options, registers)},
        {KEY_WAITS, OPTION_FLAG, .offset = offsetof(struct options, waits)},
        {KEY_PAGES_SPLIT, OPTION_FLAG, .offset = offsetof(struct options, pages_split)},
        {KEY_ROOT, OPTION_TEXT, .offset = offsetof(struct options, root)},
        {KEY_PREFAULT, OPTION_FLAG, .offset = offsetof(struct options, prefault)},
        {KEY_TARGET_CPU, OPTION_TEXT, .offset = offsetof(struct options, target_cpu)},
        {KEY_PANIC_TEST, OPTION_TEXT, .offset = offsetof(struct options, panic_test)},
        {0},
    };
    struct options_parsing *parse = state->input;
    struct options *o = parse->options;

    if (option_store(fields, key, argument, o, state))
        return 0;
    switch (key) {
    case KEY_CPUS:
        return set_cpus(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_DURATION:
        return set_duration(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_PAGES:
        return options_set_pages(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_PROCESSES:
        return set_processes(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_FILE:
        return append(&o->files, argument, parse->failure) == 0 ? 0 : ENOMEM;
    case KEY_ENV:
        return set_environment(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Records the name of the first option that is already fixed in an archive; of the events last,
 * because hr run can replace them. */
static error_t note_given(const struct argp_option *options, int key, struct options_parsing *parse)
{
    while (options->key != key)
        options++;
    if (parse->given == NULL || strcmp(parse->given, "event") == 0)
        parse->given = options->name;
    return 0;
}

static error_t parse_archive_option(int key, char *argument, struct argp_state *state)
{
    struct options_parsing *parse = state->input;
    error_t result;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = parse;
        return 0;
    case KEY_MEM:
        return set_memory(parse->options, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'v':
        parse->options->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        take_program(parse->options, state);
        return 0;
    default:
        break;
    }
    result = parse_sampling_option(key, argument, state);
    if (result == ARGP_ERR_UNKNOWN)
        result = parse_other_option(key, argument, state);
    return result == 0 ? note_given(archive_options, key, parse) : result;
}

static error_t parse_kept_option(int key, char *argument, struct argp_state *state)
{
    struct options_parsing *parse = state->input;

    switch (key) {
    case KEY_KEEP_FILES:
        parse->options->keep_files = "";
        return note_given(kept_options, key, parse);
    case KEY_STDIN:
        parse->options->input = argument;
        return note_given(kept_options, key, parse);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child archive_children[] = {{&options_probe_argp, 0, NULL, 0}, {0}};

const struct argp options_archive_argp = {
    .options = archive_options, .parser = parse_archive_option, .children = archive_children};
const struct argp options_kept_argp = {.options = kept_options, .parser = parse_kept_option};

void options_init(struct options_parsing *parsing, struct options *o, struct run_failure *failure)
{
    *o = (struct options){
        .mode = OPTIONS_MODE_UNSET,
        .cpus = OPTIONS_CPUS_AUTO,
        .memory_bytes = OPTIONS_MEMORY_DEFAULT_BYTES,
    };
    *parsing =
        (struct options_parsing){.options = o, .failure = failure, .event_list = default_events};
}

int options_finish(struct options_parsing *parsing)
{
    struct options *o = parsing->options;

    if (options_probe_imply(o, parsing->failure) != 0 ||
        options_finish_sampling(o, parsing->failure) != 0)
        return -1;
    if (o->mode == HR_MODE_EXACT) {
        if (parsing->event_list != default_events)
            return run_fail(parsing->failure,
                            "--event: --mode exact counts instructions, branches, loads, stores "
                            "and calls; leave one of the two out");
        parsing->event_list = "instructions";
    }
    if (o->mode == HR_MODE_PEBS && parsing->event_list == default_events)
        parsing->event_list = EVENTS_PEBS;
    o->default_events = parsing->event_list == default_events;
    if (options_parse_events(o, parsing->event_list, parsing->failure) != 0 ||
        options_finish_precise(o, parsing->failure) != 0)
        return -1;
    return options_probe_finish(o, parsing->failure);
}
