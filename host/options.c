/* Parses the options of hr run and hr pack. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/options.h"
#include "host/options_events.h"
#include "host/options_sampling.h"
#include "host/units.h"

enum { /* options without a letter */
       KEY_CPUS = 256,
       KEY_MEM,
       KEY_ACCEL,
       KEY_QEMU,
       KEY_CPU,
       KEY_PIN,
       KEY_FIFO,
       KEY_LIBVIRT,
       KEY_PAUSED,
       KEY_KERNEL,
       KEY_FILE,
       KEY_ROOT,
       KEY_ENV,
       KEY_TIMEOUT,
       KEY_DRY_RUN,
       KEY_REQUIRE_PMU,
       KEY_NO_PROGRESS,
       KEY_PANIC_TEST,
       KEY_TARGET_CPU,
       KEY_KEEP_FILES,
       KEY_MISSING,
       KEY_PREFAULT,
};

/* What both commands take: everything that the archive depends on. */
static const struct argp_option pack_options[] = {
    {"output", 'o', "FILE", 0, "archive to write (default run.cpio)", 0},
    {"event", 'e', "LIST", 0,
     "events, comma-separated, see 'hr events' (default " OPTIONS_EVENTS_DEFAULT ")", 1},
    {"interval", 'i', "TIME", 0, "sampling interval, from 500ns (default 10us)", 1},
    {"mode", 'm', "MODE", 0, "timer (default), ipi, overflow, instructed or off", 1},
    {"count", 'c', "N", 0, "sample every N events of the first event (counter overflow)", 1},
    {"freq", 'F', "HZ", 0, "overflow sampling whose period adapts to HZ samples a second", 1},
    {"call-graph", 'g', "KIND", OPTION_ARG_OPTIONAL,
     "record call stacks: fp[,FRAMES] by frame pointers (default), dwarf[,BYTES] for unwinding", 1},
    {"paused", KEY_PAUSED, 0, 0, "sample only from the program's hr_start() on", 1},
    {"cpus", KEY_CPUS, "N", 0, "CPUs for the program beside the service CPU; 0: one for both", 2},
    {"mem", KEY_MEM, "SIZE", 0, "the guest's memory (default 1G)", 2},
    {"accel", KEY_ACCEL, "KIND", 0, "auto (default), kvm or tcg", 2},
    {"prefault", KEY_PREFAULT, 0, 0, "fill memory when it is mapped: no page faults later", 2},
    {"target-cpu", KEY_TARGET_CPU, "CPU", 0,
     "encode the events for this CPU now, named as for 'hr events --cpu', and run on no other", 2},
    {"root", KEY_ROOT, "DIR", 0, "place the tree DIR at / of the guest", 3},
    {"file", KEY_FILE, "PATH", 0, "give the program this file or directory at its own path", 3},
    {"env", KEY_ENV, "K=V", 0, "set an environment variable of the program; K alone copies yours",
     3},
    {"verbose", 'v', 0, 0, "show what was packed and chosen, and the kernel's log, on stderr", 5},
    {"panic-test", KEY_PANIC_TEST, "WHERE", OPTION_HIDDEN, "", 9},
    {0},
};

static const struct argp_option run_options[] = {
    {"output", 'o', "FILE", 0, "trace to write (default hr.bin)", 0},
    {"qemu", KEY_QEMU, "PATH", 0, "the emulator (default qemu-system-x86_64)", 2},
    {"cpu", KEY_CPU, "MODEL", 0, "QEMU's CPU model (default: x86-64-v3 emulated, host under KVM)",
     2},
    {"pin", KEY_PIN, "LIST", 0, "host CPUs for the guest's, such as 2-5 or 2,4,6", 2},
    {"fifo", KEY_FIFO, 0, 0, "run the guest's CPUs under SCHED_FIFO", 2},
    {"libvirt", KEY_LIBVIRT, 0, 0, "start the guest as a transient domain of libvirt", 2},
    {"kernel", KEY_KERNEL, "FILE", 0, "the guest kernel (default: guest.elf beside hr)", 2},
    {"keep-files", KEY_KEEP_FILES, "DIR", 0,
     "put the files that the program made or changed below DIR, under their own paths", 3},
    {"missing", KEY_MISSING, 0, 0, "list the files that the program looked for in vain", 3},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "stop the program after this wall time; exit status 124",
     4},
    {"require-pmu", KEY_REQUIRE_PMU, 0, 0, "fail rather than count without a hardware counter", 4},
    {"dry-run", KEY_DRY_RUN, 0, 0, "print the QEMU command line and stop", 5},
    {"quiet", 'q', 0, 0, "no summary and no progress line", 5},
    {"no-progress", KEY_NO_PROGRESS, 0, 0, "no progress line", 5},
    {0},
};

/* \v: argp shows what follows after the list of options. */
static const char run_help[] =
    "Runs a Linux program alone in a small kernel, samples it and writes hr.bin.\v"
    "Options after PROGRAM belong to PROGRAM.  TIME takes ns, us, ms, s; SIZE takes K, M, G.\n\n"
    "So that runs repeat, the program does not inherit the environment: it gets "
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin, HOME=/root, LANG=C.UTF-8, "
    "TZ=UTC0, TERM when a standard stream is a terminal, and what --env says.  Under emulation "
    "its clock starts on 2024-01-01.\n\n"
    "Exit status: the program's own; 128+N when signal N ended it; 124 on --timeout; 125 when "
    "Microtome failed; 126 when the program cannot be run; 127 when it was not found.";

static const char pack_help[] =
    "Packs a program, its files and the options of a run into one archive, as hr run does.\v"
    "Options after PROGRAM belong to PROGRAM.  Exit status: 0; 125 when Microtome failed; 126 when "
    "the program cannot be run; 127 when it was not found.";

struct parse_state {
    struct options *options;
    struct run_failure *failure;
    const char *event_list;
};

static int append(struct options_list *list, const char *item, struct run_failure *failure)
{
    const char **grown = realloc(list->items, (list->count + 1) * sizeof *grown);

    if (grown == NULL)
        return run_fail(failure, RUN_EXIT_FAILED, "out of memory");
    list->items = grown;
    list->items[list->count++] = item;
    return 0;
}

static int set_memory(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_bytes(text, &o->memory_bytes) != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "--mem %s: not a size; write 64M or 2G", text);
    o->memory_bytes &= ~((1ull << 20) - 1);
    if (o->memory_bytes < OPTIONS_MEMORY_MIN_BYTES)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "--mem %s: too little memory for the kernel and a program; use 64M or more",
                        text);
    return 0;
}

static int set_cpus(struct options *o, const char *text, struct run_failure *failure)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != 0 || value < 0 || value > OPTIONS_CPUS_MAX)
        return run_fail(failure, RUN_EXIT_FAILED, "--cpus %s: not a number from 0 to %d", text,
                        OPTIONS_CPUS_MAX);
    o->cpus = (int)value;
    return 0;
}

static int set_accel(struct options *o, const char *text, struct run_failure *failure)
{
    static const char *const names[] = {"auto", "kvm", "tcg"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            o->accel = (enum options_accel)i;
            return 0;
        }
    return run_fail(failure, RUN_EXIT_FAILED, "--accel %s: unknown; use auto, kvm or tcg", text);
}

static int set_timeout(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_time(text, UNITS_SECOND, &o->timeout_ns) != 0 || o->timeout_ns == 0)
        return run_fail(failure, RUN_EXIT_FAILED, "--timeout %s: not a time; write 10s or 500ms",
                        text);
    return 0;
}

static int set_environment(struct options *o, const char *text, struct run_failure *failure)
{
    const char *value;
    char *copied;

    if (text[0] == '=' || text[0] == 0)
        return run_fail(failure, RUN_EXIT_FAILED, "--env %s: the name is missing; write K=V", text);
    if (strchr(text, '=') != NULL)
        return append(&o->environment, text, failure);
    value = getenv(text);
    if (value == NULL)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "--env %s: not in your environment; write %s=VALUE", text, text);
    if (asprintf(&copied, "%s=%s", text, value) < 0)
        return run_fail(failure, RUN_EXIT_FAILED, "out of memory");
    return append(&o->environment, copied, failure);
}

/* Everything after the program's name is the program's. */
static void take_program(struct options *o, struct argp_state *state)
{
    o->program = &state->argv[state->next - 1];
    o->program_count = (size_t)(state->argc - (state->next - 1));
    state->next = state->argc;
}

static error_t parse_pack_option(int key, char *argument, struct argp_state *state)
{
    struct parse_state *parse = state->input;
    struct options *o = parse->options;

    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
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
    case KEY_PAUSED:
        o->paused = true;
        return 0;
    case KEY_CPUS:
        return set_cpus(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_MEM:
        return set_memory(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_ACCEL:
        return set_accel(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_ROOT:
        o->root = argument;
        return 0;
    case KEY_FILE:
        return append(&o->files, argument, parse->failure) == 0 ? 0 : ENOMEM;
    case KEY_ENV:
        return set_environment(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_PREFAULT:
        o->prefault = true;
        return 0;
    case KEY_TARGET_CPU:
        o->target_cpu = argument;
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    case KEY_PANIC_TEST:
        o->panic_test = argument;
        return 0;
    case ARGP_KEY_ARG:
        take_program(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_run_option(int key, char *argument, struct argp_state *state)
{
    struct parse_state *parse = state->input;
    struct options *o = parse->options;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = parse;
        return 0;
    case 'o':
        o->output = argument;
        return 0;
    case KEY_QEMU:
        o->qemu = argument;
        return 0;
    case KEY_CPU:
        o->cpu = argument;
        return 0;
    case KEY_PIN:
        o->pin = argument;
        return 0;
    case KEY_FIFO:
        o->fifo = true;
        return 0;
    case KEY_LIBVIRT:
        o->libvirt = true;
        return 0;
    case KEY_KERNEL:
        o->kernel = argument;
        return 0;
    case KEY_TIMEOUT:
        return set_timeout(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_KEEP_FILES:
        o->keep_files = argument;
        return 0;
    case KEY_MISSING:
        o->missing = true;
        return 0;
    case KEY_REQUIRE_PMU:
        o->require_pmu = true;
        return 0;
    case KEY_DRY_RUN:
        o->dry_run = true;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    case KEY_NO_PROGRESS:
        o->no_progress = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp pack_argp = {
    .options = pack_options,
    .parser = parse_pack_option,
    .args_doc = "PROGRAM [ARG...]",
    .doc = pack_help,
};

int options_parse(struct options *o, bool packing, int argc, char **argv,
                  struct run_failure *failure)
{
    /* The archive's options without -o, whose meaning differs. */
    const struct argp shared = {.options = pack_options + 1, .parser = parse_pack_option};
    const struct argp_child children[] = {{&shared, 0, NULL, 0}, {0}};
    const struct argp run_argp = {
        .options = run_options,
        .parser = parse_run_option,
        .args_doc = "[--] PROGRAM [ARG...]",
        .doc = run_help,
        .children = children,
    };
    struct parse_state parse = {o, failure, OPTIONS_EVENTS_DEFAULT};
    error_t result;

    *o = (struct options){
        .packing = packing,
        .output = packing ? "run.cpio" : "hr.bin",
        .mode = OPTIONS_MODE_UNSET,
        .cpus = OPTIONS_CPUS_AUTO,
        .memory_bytes = OPTIONS_MEMORY_DEFAULT_BYTES,
    };
    argp_err_exit_status = RUN_EXIT_FAILED;
    result = argp_parse(packing ? &pack_argp : &run_argp, argc, argv, ARGP_IN_ORDER, NULL, &parse);
    if (failure->exit_status != 0)
        return -1;
    if (result != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "%s", strerror(result));
    if (o->program_count == 0)
        return run_fail(failure, RUN_EXIT_FAILED, "no program given; see '%s --help'", argv[0]);
    if (options_finish_sampling(o, failure) != 0)
        return -1;
    return options_events_parse(o, parse.event_list, failure);
}
