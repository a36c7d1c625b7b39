/* hr dump: a trace as text for other programs. */
#include "host/dump/dump.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/units.h"
#include "host/scan/reader.h"

static const struct dump_format *const formats[] = {&dump_csv, &dump_records};

struct dump_options {
    const char *path;
    const struct dump_format *format;
    struct selection selection;
    struct symbols_options symbols;
};

static const struct dump_format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct dump_options *options = state->input;

    switch (key) {
    case 'f':
        options->format = find_format(argument);
        if (options->format == NULL)
            argp_error(state, "--format %s: unknown format; choose csv or records", argument);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        state->child_inputs[1] = &options->symbols;
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

static int walk(struct dump *dump, const struct dump_format *format)
{
    struct trace_visitor visitor = format->visitor;
    int error;

    visitor.context = dump;
    error = trace_scan_run(&dump->scan, &visitor);
    if (error == 0 && format->finish != NULL)
        error = format->finish(dump);
    output_flush(&dump->output);
    return error;
}

/* One line on stderr for what went wrong; a reader that closed the pipe is nothing wrong. */
static int conclude(const struct dump *dump, const char *path, int error)
{
    if (dump->output.error == -EPIPE)
        return HR_EXIT_FAILED;
    if (dump->output.error != 0)
        error_print("standard output: %s; free some space or write elsewhere",
                    strerror(-dump->output.error));
    else if (error != 0)
        return reader_fail(path, error);
    else if (!dump->scan.partial && !trace_audit_complete(&dump->scan.audit))
        error_print(
            "%s: incomplete, the rows are what is there; 'hr check %s' says what is missing", path,
            path);
    if (dump->output.error == 0 && !dump->any && !selection_is_all(&dump->scan.selection))
        return reader_nothing_selected(
            path, trace_info_time_ns(&dump->scan.info, dump->scan.info.exit.time));
    return dump->output.error != 0 ? HR_EXIT_FAILED : HR_EXIT_OK;
}

static int run(const struct dump_options *options)
{
    struct dump *dump = calloc(1, sizeof *dump);
    int error = dump != NULL ? trace_scan_open(&dump->scan, options->path) : -ENOMEM;
    int status;

    if (error != 0) {
        free(dump);
        return reader_fail(options->path, error);
    }
    output_init(&dump->output, STDOUT_FILENO);
    dump->symbols_options = dump->scan.symbols = &options->symbols;
    dump->scan.selection = options->selection; /* the scan frees it */
    error = walk(dump, options->format);
    status = conclude(dump, options->path, error);
    symbols_close(dump->symbols);
    trace_scan_close(&dump->scan);
    free(dump);
    return status;
}

int dump_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"format", 'f', "FORMAT", 0, "csv (default): one row a sample; records: everything", 0},
        {0},
    };
    static const struct argp_child children[] = {
        {&selection_argp, 0, NULL, 0}, {&symbols_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .children = children,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Write a trace (default hr.bin) as text to standard output."
               "\vThe columns of csv are time_ns (since the program's start), cpu, tid, ip, symbol "
               "and one for every event: what its counter rose by since the sample before on that "
               "CPU.\n\n"
               "Examples:\n"
               "  hr dump --format csv hr.bin > samples.csv\n"
               "  hr dump --from 1.5s --to 1.6s        a tenth of a second of it\n"
               "  hr dump --format records hr.bin | grep syscall\n",
    };
    struct dump_options options = {.format = &dump_csv};

    selection_init(&options.selection);

    command_line_parse(&argp, argc, argv, 0, &options);
    options.path = reader_file(options.path);
    return run(&options);
}
