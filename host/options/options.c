/* Parses the options of hr run and hr pack. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "host/base/command_line.h"
#include "host/base/option.h"
#include "host/options/options.h"
#include "host/options/options_archive.h"
#include "host/options/options_network.h"
#include "host/options/options_packed.h"
#include "lib/array.h"

enum { /* options without a letter */
       KEY_ACCEL = 256,
       KEY_QEMU,
       KEY_CPU,
       KEY_PIN,
       KEY_FIFO,
       KEY_LIBVIRT,
       KEY_KERNEL,
       KEY_TIMEOUT,
       KEY_DRY_RUN,
       KEY_REQUIRE_PMU,
       KEY_NO_PROGRESS,
       KEY_KEEP_FILES,
       KEY_MISSING,
       KEY_SEALED,
       KEY_FORCE,
       KEY_REPEAT,
       KEY_OUTPUT_EACH,
       KEY_PUBLISH,
       KEY_NETWORK,
};

static const struct argp_option run_options[] = {
    {"output", 'o', "FILE", 0,
     "trace to write (default hr.bin); one that is there becomes FILE.old", 0},
    {"force", KEY_FORCE, 0, 0, "replace a file that is no trace", 0},
    {"accel", KEY_ACCEL, "KIND", 0, "auto (default), kvm or tcg", 2},
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
    {"sealed", KEY_SEALED, 0, 0,
     "give the program only what was packed for it: the guest cannot look for files here", 3},
    {"publish", KEY_PUBLISH, "[ADDRESS:]HOSTPORT:GUESTPORT[/udp]", 0,
     "clients that come to this port of the host reach the program's (default address 127.0.0.1; "
     "port 0: any that is free)",
     3},
    {"network", KEY_NETWORK, "KIND", 0,
     "user: the program's connections leave through the host, with your rights; none (default)", 3},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "stop the program after this wall time; exit status 124",
     4},
    {"repeat", KEY_REPEAT, "N", 0,
     "run N times and show the spread of each event and of the time; the trace is the last run's, "
     "or with -o NAME%d each run's",
     4},
    {"output-each", KEY_OUTPUT_EACH, 0, 0,
     "with --repeat, show the program's output of every run, not of the first alone", 4},
    {"require-pmu", KEY_REQUIRE_PMU, 0, 0, "fail rather than count without a hardware counter", 4},
    {"dry-run", KEY_DRY_RUN, 0, 0, "print the QEMU command line and stop", 5},
    {"quiet", 'q', 0, 0, "no summary and no progress line", 5},
    {"no-progress", KEY_NO_PROGRESS, 0, 0, "no progress line", 5},
    {0},
};

static const struct argp_option pack_options[] = {
    {"output", 'o', "FILE", 0, "archive to write (default run.cpio); - is standard output", 0},
    {"force", KEY_FORCE, 0, 0, "replace a file that is no archive of hr pack", 0},
    {"accel", KEY_ACCEL, "KIND", 0, "what it is for: auto (default), kvm or tcg", 2},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "the kernel stops the program after this time of its clock",
     0},
    {0},
};

/* \v: argp shows what follows after the list of options. */
static const char run_help[] =
    "Runs a Linux program alone in a small kernel, samples it and writes hr.bin.\v"
    "Options after PROGRAM belong to PROGRAM.  TIME takes ns, us, ms, s; SIZE takes K, M, G.  "
    "ARCHIVE is one of hr pack, perhaps of another machine: it has the program with its files, "
    "arguments and options; -e replaces its events.\n\n"
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

static int set_accel(struct options *o, const char *text, struct run_failure *failure)
{
    static const char *const names[] = {"auto", "kvm", "tcg"};
    int found = option_word(text, names, ARRAY_COUNT(names));

    if (found < 0)
        return run_fail(failure, "--accel %s: unknown; use auto, kvm or tcg", text);
    o->accel = (enum options_accel)found;
    return 0;
}

static int set_repeat(struct options *o, const char *text, struct run_failure *failure)
{
    if (option_number(text, 1, OPTIONS_REPEAT_MAX, &o->repeat) == 0)
        return 0;
    return run_fail(failure, "--repeat %s: not a number of runs from 1 to %u", text,
                    OPTIONS_REPEAT_MAX);
}

static const struct option_field run_fields[] = {
    {'o', OPTION_TEXT, .offset = offsetof(struct options, output)},
    {KEY_FORCE, OPTION_FLAG, .offset = offsetof(struct options, force)},
    {KEY_QEMU, OPTION_TEXT, .offset = offsetof(struct options, qemu)},
    {KEY_CPU, OPTION_TEXT, .offset = offsetof(struct options, cpu)},
    {KEY_PIN, OPTION_TEXT, .offset = offsetof(struct options, pin)},
    {KEY_FIFO, OPTION_FLAG, .offset = offsetof(struct options, fifo)},
    {KEY_LIBVIRT, OPTION_FLAG, .offset = offsetof(struct options, libvirt)},
    {KEY_KERNEL, OPTION_TEXT, .offset = offsetof(struct options, kernel)},
    {KEY_KEEP_FILES, OPTION_TEXT, .offset = offsetof(struct options, keep_files)},
    {KEY_MISSING, OPTION_FLAG, .offset = offsetof(struct options, missing)},
    {KEY_OUTPUT_EACH, OPTION_FLAG, .offset = offsetof(struct options, output_each)},
    {KEY_REQUIRE_PMU, OPTION_FLAG, .offset = offsetof(struct options, require_pmu)},
    {KEY_DRY_RUN, OPTION_FLAG, .offset = offsetof(struct options, dry_run)},
    {KEY_NO_PROGRESS, OPTION_FLAG, .offset = offsetof(struct options, no_progress)},
    {0},
};

/* The options of hr pack are some of those of hr run. */
static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options_parsing *parse = state->input;
    struct options *o = parse->options;

    if (option_store(run_fields, key, argument, o, state))
        return 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = parse;
        if (o->packing)
            state->child_inputs[1] = parse;
        return 0;
    case KEY_ACCEL:
        return set_accel(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_TIMEOUT:
        return options_set_timeout(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_SEALED:
        o->serve = false;
        return 0;
    case KEY_PUBLISH:
        return options_network_publish(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_NETWORK:
        return options_network_set(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case KEY_REPEAT:
        return set_repeat(o, argument, parse->failure) == 0 ? 0 : EINVAL;
    case 'q':
        o->quiet = true;
        o->events.quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int options_parse(struct options *o, bool packing, int argc, char **argv,
                  struct run_failure *failure)
{
    const struct argp_child children[] = {
        {&options_archive_argp, 0, NULL, 0},
        {packing ? &options_kept_argp : NULL, 0, NULL, 0},
        {0},
    };
    const struct argp command = {
        .options = packing ? pack_options : run_options,
        .parser = parse_option,
        .args_doc = packing ? "PROGRAM [ARG...]" : "[--] PROGRAM [ARG...]\n[--] ARCHIVE",
        .doc = packing ? pack_help : run_help,
        .children = children,
    };
    struct options_parsing parse;
    error_t result;

    options_init(&parse, o, failure);
    o->packing = o->unattended = packing;
    o->serve = !packing;
    o->output = packing ? "run.cpio" : "hr.bin";
    argp_err_exit_status = RUN_EXIT_FAILED;
    result = command_line_parse(&command, argc, argv, ARGP_IN_ORDER, &parse);
    if (failure->exit_status != 0)
        return -1;
    if (result != 0)
        return run_fail(failure, "%s", strerror(result));
    if (o->program_count == 0)
        return run_fail(failure, "no program given; see '%s --help'", argv[0]);
    return !packing && options_packed_is(o->program[0]) ? options_packed_finish(&parse)
                                                        : options_finish(&parse);
}
