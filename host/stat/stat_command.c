/* hr stat: the summary of a trace. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/machine/machine_print.h"
#include "host/scan/about.h"
#include "host/scan/reader.h"
#include "host/summary/summary.h"
#include "host/summary/summary_show.h"

enum { KEY_MACHINE = 256 };

struct stat_options {
    const char *path;
    struct selection selection;
    unsigned int jobs;
    bool json;
    bool machine;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stat_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        state->child_inputs[1] = &options->jobs;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case KEY_MACHINE:
        options->machine = true;
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

static int present(const struct stat_options *options, const struct summary *summary)
{
    int error = 0;

    if (summary->selected && summary->samples == 0)
        return reader_nothing_selected(options->path, summary->run_ns);
    if (options->json)
        error = summary_print_json(stdout, summary);
    else
        summary_show(stdout, summary);
    return error == 0 ? HR_EXIT_OK : reader_fail(options->path, error);
}

/* The trace's metadata suffice: samples are not read. */
static int present_machine(const struct stat_options *options)
{
    struct trace_info info;
    int error;

    if (!selection_is_all(&options->selection)) {
        error_print("--machine is about the whole run; leave out what selects a part of it");
        return HR_EXIT_USAGE;
    }
    trace_info_init(&info);
    error = about_read(&info, options->path);
    if (error == 0)
        error = options->json ? machine_print_json(stdout, &info)
                              : machine_print(stdout, &info, options->path);
    trace_info_free(&info);
    return error == 0 ? HR_EXIT_OK : reader_fail(options->path, error);
}

static int present_summary(struct stat_options *options)
{
    struct summary summary;
    int error = summary_of_part(options->path, &options->selection, options->jobs, &summary);
    int status = error == 0 ? present(options, &summary) : reader_fail(options->path, error);

    summary_free(&summary);
    return status;
}

int stat_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"json", 'j', NULL, 0, "Print one JSON object", 0},
        {"machine", KEY_MACHINE, NULL, 0,
         "Show the machine instead: processor, firmware, memory, and what happened to its CPUs", 0},
        {0},
    };
    static const struct argp_child children[] = {
        {&selection_argp, 0, NULL, 0}, {&reader_jobs_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .children = children,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Summarise a trace (default hr.bin): events, samples, intervals, losses, cost."
               "\vExamples:\n"
               "  hr stat                              the figures of hr.bin\n"
               "  hr stat --from 2ms --to 3ms          what one millisecond of it counted\n"
               "  hr stat --json run.bin | jq .events  event totals for a script\n"
               "  hr stat --machine run.bin            what machine it ran on\n",
    };
    struct stat_options options = {0};
    int status;

    selection_init(&options.selection);
    command_line_parse(&argp, argc, argv, 0, &options);
    options.path = reader_file(options.path);
    status = options.machine ? present_machine(&options) : present_summary(&options);
    selection_free(&options.selection);
    return status;
}
