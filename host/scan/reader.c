/* What the commands that read a trace have in common. */
#include "host/scan/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "lib/array.h"

int reader_fail(const char *path, int error)
{
    error_print("%s: %s", path, trace_file_error(error));
    return error == -EBADMSG || error == -ENODATA || error == -EPROTONOSUPPORT ? HR_EXIT_USAGE
                                                                               : HR_EXIT_FAILED;
}

int reader_nothing_selected(const char *path, uint64_t duration_ns)
{
    char time[TEXT_QUANTITY_BYTES];

    return error_exit(HR_EXIT_FAILED,
                      "%s: nothing is selected: no sample of the run, which took %s, lies there; "
                      "'hr stat %s' shows the whole run",
                      path, text_time(time, (double)duration_ns), path);
}

enum { KEY_JOBS = 0x1100 };

static error_t parse_jobs(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_JOBS, OPTION_NUMBER, 0, "jobs", "not a number of threads; 1 reads with one", 1, 1024},
        {0},
    };

    return option_store(fields, key, argument, state->input, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_option jobs_options[] = {
    {"jobs", KEY_JOBS, "N", 0, "Read with N threads (default: as many as there are CPUs, up to 8)",
     6},
    {0},
};

static const struct argp jobs_argp = {.options = jobs_options, .parser = parse_jobs};

const struct argp_child reader_part[] = {
    {&selection_argp, 0, NULL, 0}, {&jobs_argp, 0, NULL, 0}, {0}};
const struct argp_child reader_symbols[] = {
    {&selection_argp, 0, NULL, 0}, {&symbols_argp, 0, NULL, 0}, {&jobs_argp, 0, NULL, 0}, {0}};

static enum reader_format parse_format(const char *argument, const struct argp_state *state)
{
    static const char *const names[] = {
        [READER_TABLE] = "table", [READER_CSV] = "csv", [READER_JSON] = "json"};
    int found = option_word(argument, names, ARRAY_COUNT(names));

    if (found < 0)
        argp_error(state, "--format %s: unknown format; choose table, csv or json", argument);
    return (enum reader_format)found;
}

static void give_children(struct reader *reader, struct argp_state *state)
{
    const struct argp_child *child = reader->argp->children;

    for (size_t i = 0; child != NULL && child[i].argp != NULL; i++)
        state->child_inputs[i] = child[i].argp == &selection_argp ? (void *)&reader->selection
                                 : child[i].argp == &symbols_argp ? (void *)&reader->symbols
                                                                  : (void *)&reader->jobs;
}

error_t reader_parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'n', OPTION_NUMBER, .offset = offsetof(struct reader, limit), "limit",
         "not a number; 0 shows all"},
        {READER_FOLLOW, OPTION_FLAG, .offset = offsetof(struct reader, follow)},
        {READER_INTERVAL, OPTION_TIME, .offset = offsetof(struct reader, interval_ns), "interval",
         "not a time above 0 with a unit, such as 1s", 1},
        {0},
    };
    struct reader *reader = state->input;

    if (option_store(fields, key, argument, reader, state))
        return 0;
    switch (key) {
    case 'f':
        reader->format = parse_format(argument, state);
        return 0;
    case ARGP_KEY_INIT:
        give_children(reader, state);
        return 0;
    case ARGP_KEY_ARG:
        if (reader->path != NULL)
            argp_error(state, "%s: only one trace can be read at a time; leave the others out",
                       argument);
        reader->path = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void reader_command_line(struct reader *reader, const struct argp *argp, int argc, char **argv)
{
    reader->argp = argp;
    reader->limit = READER_LIMIT_UNSET;
    selection_init(&reader->selection);
    command_line_parse(argp, argc, argv, 0, reader);
    if (reader->path == NULL)
        reader->path = "hr.bin";
    reader->follow |= reader->interval_ns != 0;
}

unsigned long reader_limit(const struct reader *reader, unsigned long table)
{
    if (reader->limit != READER_LIMIT_UNSET)
        return reader->limit;
    return reader->format == READER_TABLE ? table : 0;
}

int reader_open(struct trace_scan *scan, struct reader *reader)
{
    int error = trace_scan_open(scan, reader->path);

    if (error != 0)
        return error;
    scan->selection = reader->selection;
    scan->symbols = &reader->symbols;
    scan->jobs = (unsigned int)reader->jobs;
    selection_init(&reader->selection);
    return 0;
}

int reader_run(struct reader *reader, const struct reader_command *command)
{
    int status, result = reader_open(&reader->scan, reader);

    if (result != 0) {
        selection_free(&reader->selection);
        return reader_fail(reader->path, result);
    }
    result = command->read(reader);
    if (result == 0)
        status = command->present(reader);
    else
        status = result > 0 ? result : reader_fail(reader->path, result);
    command->free(reader);
    trace_scan_close(&reader->scan);
    return status;
}
