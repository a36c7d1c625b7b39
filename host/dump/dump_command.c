/* hr dump: a trace as text for other programs. */
#include "host/dump/dump.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/scan/reader_output.h"

static const struct dump_format *const formats[] = {&dump_csv, &dump_records};

static const struct dump_format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct dump *dump = state->input;

    if (key != 'f')
        return reader_parse(key, argument, state);
    dump->format = find_format(argument);
    if (dump->format == NULL)
        argp_error(state, "--format %s: unknown format; choose csv or records", argument);
    return 0;
}

static int read_trace(struct reader *reader)
{
    struct dump *dump = (struct dump *)reader;
    struct trace_visitor visitor = dump->format->visitor;
    int error;

    output_init(&dump->output, STDOUT_FILENO);
    visitor.context = dump;
    error = trace_scan_run(&reader->scan, &visitor);
    if (error == 0 && dump->format->finish != NULL)
        error = dump->format->finish(dump);
    sample_rows_finish(&dump->rows);
    output_flush(&dump->output);
    if (dump->output.error == 0)
        return error;
    if (dump->output.error != -EPIPE) /* a reader that closed the pipe is nothing wrong */
        reader_print_failure(dump->output.error);
    return HR_EXIT_FAILED;
}

static int present(struct reader *reader)
{
    const struct trace_scan *scan = &reader->scan;

    reader_warn(scan, reader->path, "the rows are what is there");
    if (!((struct dump *)reader)->any && !selection_is_all(&scan->selection))
        return reader_nothing_selected(reader->path,
                                       trace_info_time_ns(&scan->info, scan->info.exit.time));
    return HR_EXIT_OK;
}

static void free_dump(struct reader *reader)
{
    symbols_close(((struct dump *)reader)->symbols);
}

int dump_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"format", 'f', "FORMAT", 0, "csv (default): one row a sample; records: everything", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Write a trace (default hr.bin) as text to standard output."
               "\vThe columns of csv are time_ns (since the program's start), cpu, pid (in traces "
               "of several "
               "processes), tid, ip, symbol and one for every event: what its counter rose by "
               "since the sample before on that "
               "CPU.\n\n"
               "Examples:\n"
               "  hr dump --format csv hr.bin > samples.csv\n"
               "  hr dump --from 1.5s --to 1.6s        a tenth of a second of it\n"
               "  hr dump --format records hr.bin | grep syscall\n",
    };
    static const struct reader_command command = {read_trace, present, free_dump};
    struct dump *dump = calloc(1, sizeof *dump); /* most of it is not touched */
    int status;

    if (dump == NULL) {
        reader_print_failure(-ENOMEM);
        return HR_EXIT_FAILED;
    }
    dump->format = &dump_csv;
    reader_command_line(&dump->reader, &argp, argc, argv);
    status = reader_run(&dump->reader, &command);
    free(dump);
    return status;
}
