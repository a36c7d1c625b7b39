/* hr bench: times commands; hr bench memory: measures this machine's memory by a program of its
 * own. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/bench/bench_memory.h"
#include "host/bench/bench_options.h"
#include "host/bench/bench_show.h"

#define SIZE_LEAST (1ull << 20)
#define SIZE_MOST (16ull << 30)

enum { KEY_ACCEL = 256, KEY_QEMU, KEY_CPU, KEY_PIN, KEY_SIZE };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_ACCEL, OPTION_TEXT, .offset = offsetof(struct bench_options, accel)},
        {KEY_QEMU, OPTION_TEXT, .offset = offsetof(struct bench_options, qemu)},
        {KEY_CPU, OPTION_TEXT, .offset = offsetof(struct bench_options, cpu)},
        {KEY_PIN, OPTION_TEXT, .offset = offsetof(struct bench_options, pin)},
        {KEY_SIZE, OPTION_BYTES, .offset = offsetof(struct bench_options, size), "size",
         "not a size from 1M to 16G", SIZE_LEAST, SIZE_MOST},
        {0},
    };
    static const char *const formats[] = {"table", "csv", "json"};
    struct bench_options *options = state->input;
    int format;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case 'f':
        format = option_word(argument, formats, sizeof formats / sizeof formats[0]);
        if (format < 0)
            argp_error(state, "--format %s: choose table, csv or json", argument);
        options->format = (enum bench_format)format;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: hr bench memory takes options only; leave it out", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run_memory(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"size", KEY_SIZE, "BYTES", 0, "Largest size (default 256M): several times the caches", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {"accel", KEY_ACCEL, "KIND", 0, "auto (default), kvm or tcg", 0},
        {"qemu", KEY_QEMU, "PATH", 0, "The emulator", 0},
        {"cpu", KEY_CPU, "MODEL", 0, "QEMU's CPU model", 0},
        {"pin", KEY_PIN, "LIST", 0, "Host CPUs for the guest's, such as 4,5", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .doc = "Measure how fast one CPU of this machine reads, writes and copies memory, and how "
               "long a load takes that waits for the one before, by the size of what is used.\v"
               "The largest size's figures are the machine's peak.  They are kept, and "
               "'hr timeline --bandwidth' shows rates as shares of them; those of an emulator and "
               "of less than 256M are not kept.  MB/s are bytes a microsecond; a copy's are those "
               "read and written.",
    };
    struct bench_options options = {.size = BENCH_SIZE_DEFAULT};

    command_line_parse(&argp, argc, argv, 0, &options);
    return bench_memory(&options);
}

static int run_commands(int argc, char **argv)
{
    static struct bench bench;
    struct bench_wishes wishes = {.bench = &bench};
    struct run_failure failure = {0}, later = {0};
    int status = HR_EXIT_OK;

    if (bench_options_parse(&wishes, argc, argv, &failure) == 0)
        bench_measure(&bench, &failure);
    if (failure.exit_status != 0)
        status = error_exit(failure.exit_status, "%s", failure.text);
    if (bench_fastest(&bench) != NULL)
        bench_show(stdout, &bench);
    for (size_t i = 0; i < wishes.export_count && bench_fastest(&bench) != NULL; i++)
        if (bench_export(&bench, wishes.exports[i], wishes.force, &later) != 0)
            break;
    if (later.exit_status != 0)
        status = error_exit(later.exit_status, "%s", later.text);
    array_free_texts(&wishes.commands, &wishes.command_count);
    bench_free(&bench);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return error_exit(RUN_EXIT_FAILED, "standard output: %s; free some space or write elsewhere",
                      strerror(errno));
}

int bench_command(int argc, char **argv)
{
    static char name[] = "hr bench memory";

    if (argc < 2 || strcmp(argv[1], "memory") != 0)
        return run_commands(argc, argv);
    argv[1] = name;
    return run_memory(argc - 1, argv + 1);
}
