/* hr bench memory: measures this machine's memory by a program of its own in the guest. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/bench/bench_memory.h"

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
        if (state->arg_num != 0 || strcmp(argument, "memory") != 0)
            argp_error(state, "%s: there is one bench: memory", argument);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "say what to measure: memory");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int bench_command(int argc, char **argv)
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
        .args_doc = "memory",
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
