/* hr stat: the summary of a trace. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/machine/machine_print.h"
#include "host/scan/about.h"
#include "host/scan/reader.h"
#include "host/stat/stat_files.h"
#include "host/stat/stat_follow.h"
#include "host/stat/stat_metrics.h"
#include "host/summary/summary.h"
#include "host/summary/summary_show.h"

enum { KEY_MACHINE = 256, KEY_FILES, KEY_METRICS };

struct stat_options {
    struct reader reader;
    bool json;
    bool machine;
    bool files;
    const char *metrics; /* NULL: not asked for */
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stat_options *options = state->input;

    if (key == 'j')
        options->json = true;
    else if (key == KEY_MACHINE)
        options->machine = true;
    else if (key == KEY_FILES)
        options->files = true;
    else if (key == KEY_METRICS)
        options->metrics = argument != NULL ? argument : "all";
    else
        return reader_parse(key, argument, state);
    return 0;
}

static int present(const struct stat_options *options, const struct summary *summary)
{
    int error = 0;

    if (summary->selected && summary->samples == 0 && summary->probes.hits == 0)
        return reader_nothing_selected(options->reader.path, summary->run_ns);
    if (options->metrics != NULL)
        return stat_metrics(summary, options->metrics, options->json);
    if (options->json)
        error = summary_print_json(stdout, summary);
    else
        summary_show(stdout, summary);
    return error == 0 ? HR_EXIT_OK : reader_fail(options->reader.path, error);
}

static bool is_of_part(const struct stat_options *options, const char *option)
{
    if (selection_is_all(&options->reader.selection))
        return false;
    error_print("%s is about the whole run; leave out what selects a part of it", option);
    return true;
}

/* The trace's metadata suffice: samples are not read. */
static int present_machine(const struct stat_options *options)
{
    struct trace_info info;
    int error;

    if (is_of_part(options, "--machine"))
        return HR_EXIT_USAGE;
    trace_info_init(&info);
    error = about_read(&info, options->reader.path);
    if (error == 0)
        error = options->json ? machine_print_json(stdout, &info)
                              : machine_print(stdout, &info, options->reader.path);
    trace_info_free(&info);
    return error == 0 ? HR_EXIT_OK : reader_fail(options->reader.path, error);
}

static int present_files(const struct stat_options *options)
{
    return is_of_part(options, "--files") ? HR_EXIT_USAGE
                                          : stat_files(options->reader.path, options->json);
}

static int present_summary(struct stat_options *options)
{
    struct reader *reader = &options->reader;
    struct summary summary;
    int error = reader->follow
                    ? stat_follow(reader, options->json, &summary)
                    : summary_of_part(reader->path, &reader->selection, reader->jobs, &summary);
    int status = error == 0  ? present(options, &summary)
                 : error > 0 ? HR_EXIT_OK
                             : reader_fail(reader->path, error);

    summary_free(&summary);
    return status;
}

int stat_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"json", 'j', NULL, 0, "Print one JSON object", 0},
        {"machine", KEY_MACHINE, NULL, 0,
         "Show the machine instead: processor, firmware, memory, and what happened to its CPUs", 0},
        {"files", KEY_FILES, NULL, 0,
         "Show the files of the host instead that the program looked for and read", 0},
        {"metrics", KEY_METRICS, "LIST", OPTION_ARG_OPTIONAL,
         "Show what the events come to instead: instructions a cycle, miss rates, top-down shares; "
         "all that there are, or those of LIST, such as IPC,@tma1",
         0},
        READER_FOLLOW_OPTIONS,
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_part,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Summarise a trace (default hr.bin): events, samples, intervals, losses, cost."
               "\vExamples:\n"
               "  hr stat                              the figures of hr.bin\n"
               "  hr stat --from 2ms --to 3ms          what one millisecond of it counted\n"
               "  hr stat --json run.bin | jq .events  event totals for a script\n"
               "  hr stat --machine run.bin            what machine it ran on\n"
               "  hr stat --files run.bin              what files it depended on\n"
               "  hr stat --metrics run.bin            of hr run -e @tma1 PROGRAM: where the slots "
               "went\n"
               "  hr stat --follow                     while hr run writes hr.bin\n",
    };
    struct stat_options options = {0};
    int status;

    reader_command_line(&options.reader, &argp, argc, argv);
    if (options.files + options.machine + (options.metrics != NULL) > 1)
        status = error_exit(HR_EXIT_USAGE, "--files, --machine and --metrics: one at a time");
    else if (options.reader.follow && (options.files || options.machine))
        status = error_exit(HR_EXIT_USAGE, "--follow: --files and --machine need the whole trace; "
                                           "leave it out");
    else
        status = options.files     ? present_files(&options)
                 : options.machine ? present_machine(&options)
                                   : present_summary(&options);
    selection_free(&options.reader.selection);
    return status;
}
