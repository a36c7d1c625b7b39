/* hr noise: when the program did not run, or was disturbed. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/units.h"
#include "host/noise/noise_print.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

#define TABLE_LIMIT 20u
#define LIMIT_UNSET ULONG_MAX

enum { KEY_MIN = 256 };

struct options {
    const char *path;
    enum reader_format format;
    uint64_t min_ns;
    unsigned long limit;
    struct selection selection;
    struct symbols_options symbols;
};

struct walk {
    struct noise noise;
    uint64_t min_ns;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char *end;

    switch (key) {
    case KEY_MIN:
        if (units_parse_time(argument, UNITS_NEEDED, &options->min_ns) != 0)
            argp_error(state, "--min %s: not a time; give it with a unit, such as 5us", argument);
        return 0;
    case 'n':
        errno = 0;
        options->limit = strtoul(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end != 0 || errno != 0)
            argp_error(state, "--limit %s: not a number; 0 shows all", argument);
        return 0;
    case 'f':
        options->format = reader_format(argument, state);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        state->child_inputs[1] = &options->symbols;
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

/* How long a tick is the metadata say, which come before all data. */
static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct walk *walk = context;
    uint64_t per_second = walk->noise.info->clock.ticks_per_second;
    unsigned __int128 ticks = (unsigned __int128)walk->min_ns * per_second / 1000000000u;

    walk->noise.least_ticks = ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
    walk->noise.waits.least_ticks = walk->noise.least_ticks;
    return noise_visitor.chunk(&walk->noise, chunk, continues);
}

static int present(const struct noise *noise, const struct options *options)
{
    struct output *out;

    if (options->format == READER_TABLE) {
        noise_print(stdout, noise, options->limit == LIMIT_UNSET ? TABLE_LIMIT : options->limit);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    if (out == NULL) {
        error_print("no memory; end other programs");
        return HR_EXIT_FAILED;
    }
    if (options->format == READER_CSV)
        noise_rows_csv(out, noise, options->limit == LIMIT_UNSET ? 0 : options->limit);
    else
        noise_rows_json(out, noise, options->limit == LIMIT_UNSET ? 0 : options->limit);
    return reader_output_close(out);
}

static int name_waits(struct noise *noise, const struct trace_scan *scan, struct symbols **symbols)
{
    int error = symbols_open(symbols, &scan->info, scan->symbols);

    return error == 0 ? waits_name(&noise->waits, *symbols, &scan->stacks) : error;
}

static int run(const struct options *options)
{
    struct walk walk = {.min_ns = options->min_ns};
    struct trace_visitor visitor = noise_visitor;
    struct trace_scan scan;
    int error = trace_scan_open(&scan, options->path);
    int status = HR_EXIT_FAILED;
    struct symbols *symbols = NULL;

    if (error != 0)
        return reader_fail(options->path, error);
    scan.selection = options->selection; /* the scan frees it */
    scan.symbols = &options->symbols;
    visitor.context = &walk; /* its first member is the struct noise */
    visitor.chunk = take_chunk;
    error = noise_init(&walk.noise, &scan);
    if (error == 0)
        error = trace_scan_run(&scan, &visitor);
    if (error == 0)
        error = name_waits(&walk.noise, &scan, &symbols);
    if (error == 0) {
        noise_finish(&walk.noise);
        if (walk.noise.cpu_count == 0 && walk.noise.kept_count == 0)
            status = reader_nothing(&scan, options->path, walk.noise.time_last);
        else
            status = present(&walk.noise, options);
        reader_warn(&scan, options->path);
    }
    noise_free(&walk.noise);
    symbols_close(symbols);
    trace_scan_close(&scan);
    return error == 0 ? status : reader_fail(options->path, error);
}

int noise_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"min", KEY_MIN, "TIME", 0, "Only what took at least TIME, such as 5us", 0},
        {"limit", 'n', "N", 0, "Show the N longest (table: default 20; 0: all)", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {0},
    };
    static const struct argp_child children[] = {
        {&selection_argp, 0, NULL, 0}, {&symbols_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .children = children,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc =
            "Show when the program did not run or was disturbed, and why (trace: default hr.bin)."
            "\vCauses are the program's own waits (sleep, input, output, wait), a CPU without a "
            "thread (idle), samples that came late by a system call (kernel) or for no reason "
            "that the trace knows (late), readings of the counters that took four times as long "
            "as usual (reading: SMI, VM exit, steal), and lost samples.\n\n"
            "Examples:\n"
            "  hr noise                          the 20 longest of hr.bin\n"
            "  hr noise --min 5us --limit 0      everything from 5 us on\n"
            "  hr noise --format csv run.bin | sort -t, -k1n\n",
    };
    struct options options = {.limit = LIMIT_UNSET};

    selection_init(&options.selection);
    command_line_parse(&argp, argc, argv, 0, &options);
    options.path = reader_file(options.path);
    return run(&options);
}
