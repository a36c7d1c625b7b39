/* hr stat: the summary of a trace. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "host/commands.h"
#include "host/reader.h"
#include "host/summary.h"

struct stat_options {
    const char *path;
    struct selection selection;
    unsigned int jobs;
    bool json;
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
        summary_print(stdout, summary);
    return error == 0 ? HR_EXIT_OK : reader_fail(options->path, error);
}

int stat_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"json", 'j', NULL, 0, "Print one JSON object", 0},
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
               "  hr stat --json run.bin | jq .events  event totals for a script\n",
    };
    struct stat_options options = {0};
    struct summary summary;
    int error, status;

    selection_init(&options.selection);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    options.path = reader_file(options.path);
    error = summary_of_part(options.path, &options.selection, options.jobs, &summary);
    status = error == 0 ? present(&options, &summary) : reader_fail(options.path, error);
    selection_free(&options.selection);
    summary_free(&summary);
    return status;
}
