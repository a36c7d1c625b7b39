/* hr stat: the summary of a trace. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/summary.h"
#include "host/trace_file.h"

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
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "%s: one trace at a time", argument);
        options->path = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
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
    if (options.path == NULL)
        options.path = "hr.bin";
    error = summary_from_file(options.path, &summary);
    if (error == 0 && options.json)
        error = summary_print_json(stdout, &summary);
    else if (error == 0)
        summary_print(stdout, &summary);
    if (error != 0)
        error_print("%s: %s", options.path, trace_file_error(error));
    summary_free(&summary);
    return error == 0 ? HR_EXIT_OK : error == -EBADMSG ? HR_EXIT_USAGE : HR_EXIT_FAILED;
}
