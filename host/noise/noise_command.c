/* hr noise: when the program did not run, or was disturbed. */
#include <argp.h>

#include "host/base/commands.h"
#include "host/base/option.h"
#include "host/noise/noise_print.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

#define TABLE_LIMIT 20u

enum { KEY_MIN = 256 };

struct options {
    struct reader reader;
    uint64_t min_ns;
    struct noise noise;
    struct symbols *symbols;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_MIN, OPTION_TIME, .offset = offsetof(struct options, min_ns), "min",
         "not a time; give it with a unit, such as 5us"},
        {0},
    };

    return option_store(fields, key, argument, state->input, state)
               ? 0
               : reader_parse(key, argument, state);
}

static int print(const struct noise *noise, enum reader_format format, unsigned long limit)
{
    struct output *out;

    if (format == READER_TABLE) {
        noise_print(stdout, noise, limit);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (format == READER_CSV ? noise_rows_csv : noise_rows_json)(out, noise, limit);
    return reader_output_close(out);
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct trace_scan *scan = &reader->scan;
    struct noise *noise = &options->noise;
    struct trace_visitor visitor = noise_visitor;
    int error = noise_init(noise, scan);

    noise->least_ns = options->min_ns;
    visitor.context = noise;
    if (error == 0)
        error = trace_scan_run(scan, &visitor);
    if (error == 0)
        error = symbols_open(&options->symbols, &scan->info, scan->symbols);
    if (error == 0)
        error = waits_name(&noise->waits, options->symbols, &scan->stacks);
    if (error == 0)
        noise_finish(noise);
    return error;
}

static int present(struct reader *reader)
{
    const struct noise *noise = &((struct options *)reader)->noise;
    int status;

    if (noise->cpu_count == 0 && noise->kept_count == 0)
        status = reader_nothing(&reader->scan, reader->path, noise->time_last);
    else
        status = print(noise, reader->format, reader_limit(reader, TABLE_LIMIT));
    reader_warn(&reader->scan, reader->path, NULL);
    return status;
}

static void free_noise(struct reader *reader)
{
    struct options *options = (struct options *)reader;

    noise_free(&options->noise);
    symbols_close(options->symbols);
}

int noise_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"min", KEY_MIN, "TIME", 0, "Only what took at least TIME, such as 5us", 0},
        {"limit", 'n', "N", 0, "Show the N longest (table: default 20; 0: all)", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
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
    static const struct reader_command command = {read_trace, present, free_noise};
    struct options options = {0};

    reader_command_line(&options.reader, &argp, argc, argv);
    return reader_run(&options.reader, &command);
}
