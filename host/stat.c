/* hr stat: the summary of a trace. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "host/commands.h"
#include "host/reader.h"
#include "host/summary.h"

struct stat_options {
    const char *path;
    bool json;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stat_options *options = state->input;

    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

int stat_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"json", 'j', NULL, 0, "Print one JSON object", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Summarise a trace (default hr.bin): events, samples, intervals, losses, cost."
               "\vExamples:\n"
               "  hr stat                              the figures of hr.bin\n"
               "  hr stat --json run.bin | jq .events  event totals for a script\n",
    };
    struct stat_options options = {NULL, false};
    struct summary summary;
    int error;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    options.path = reader_file(options.path);
    error = summary_from_file(options.path, &summary);
    if (error == 0 && options.json)
        error = summary_print_json(stdout, &summary);
    else if (error == 0)
        summary_print(stdout, &summary);
    summary_free(&summary);
    return error == 0 ? HR_EXIT_OK : reader_fail(options.path, error);
}
