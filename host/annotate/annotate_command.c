/* hr annotate: a function's instructions and source lines with what was counted at each. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/annotate/annotate_choose.h"
#include "host/annotate/annotate_print.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/terminal.h"
#include "host/report/profile.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/scan/trace_scan.h"

enum { KEY_SOURCE_DIR = 256, KEY_INTEL, KEY_ATT }; /* options without a letter */

struct annotate_options {
    const char *function;
    const char *path;
    const char *event; /* NULL: samples */
    const char *source_dir;
    struct selection selection;
    struct symbols_options symbols;
    enum annotate_syntax syntax;
    unsigned int jobs;
    bool by_line;
    unsigned long limit; /* 0: all */
};

struct annotate {
    const struct annotate_options *options;
    struct trace_scan scan;
    struct profile profile;
    bool has_profile;
    struct annotate_counts counts;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct annotate_options *options = state->input;
    char *end;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        state->child_inputs[1] = &options->symbols;
        state->child_inputs[2] = &options->jobs;
        return 0;
    case 'e':
        options->event = argument;
        return 0;
    case 's':
        options->by_line = true;
        return 0;
    case KEY_SOURCE_DIR:
        options->source_dir = argument;
        return 0;
    case KEY_INTEL:
        options->syntax = ANNOTATE_INTEL;
        return 0;
    case KEY_ATT:
        options->syntax = ANNOTATE_ATT;
        return 0;
    case 'n':
        errno = 0;
        options->limit = strtoul(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end != 0 || errno != 0)
            argp_error(state, "--limit %s: not a number; 0 shows all", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (options->function == NULL) {
            options->function = argument;
            return 0;
        }
        return reader_parse_file(key, argument, state, &options->path);
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a function; 'hr report' lists those that have samples");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The first walk finds the functions that have samples. */
static int find_functions(struct annotate *a, struct selection *selection)
{
    static const struct profile_options functions = {.by = PLACE_FUNCTION};
    int error = trace_scan_open(&a->scan, a->options->path);

    if (error != 0)
        return error;
    a->scan.selection = *selection;
    a->scan.symbols = &a->options->symbols;
    a->has_profile = true;
    error = profile_run(&a->profile, &a->scan, &functions, a->options->jobs);
    if (error == 0)
        error = profile_sort(&a->profile, false);
    selection_init(&a->scan.selection); /* for the second walk: the scan would free it */
    if (error != 0)
        trace_scan_close(&a->scan);
    return error;
}

static int count_samples(void *context, const struct trace_samples *samples)
{
    annotate_counts_add(context, samples);
    return 0;
}

/* The second one counts in the function that was chosen. */
static int count_in(struct annotate *a, struct selection *selection, const struct place *row,
                    int event)
{
    const struct trace_visitor visitor = {
        .context = &a->counts, .exact = true, .samples = count_samples};
    int error = annotate_counts_init(&a->counts, row->start, row->end, event);

    trace_scan_close(&a->scan);
    if (error == 0)
        error = trace_scan_open(&a->scan, a->options->path);
    if (error != 0)
        return error;
    a->scan.selection = *selection;
    selection_init(selection);
    return trace_scan_run(&a->scan, &visitor);
}

static void warn(const struct annotate *a)
{
    const char *path = a->options->path, *file, *problem;

    for (size_t i = 0; (problem = symbols_problem(a->profile.symbols, i, &file)) != NULL; i++)
        error_print("%s: %s", file, problem);
    if (!a->scan.partial && !trace_audit_complete(&a->scan.audit))
        error_print("%s: incomplete, what is there is shown; 'hr check %s' says what is missing",
                    path, path);
}

/* The program that ran is found by its build-id; its source is not. */
static void warn_of_sources(const struct annotate_source *source)
{
    for (size_t i = 0; i < source->file_count; i++)
        if (source->files[i].newer)
            error_print("%s: newer than the trace: its lines may not be those that ran; name a "
                        "folder that has the old ones with --source-dir",
                        source->files[i].name);
}

static int print(const struct annotate *a, const struct place *row, int weight)
{
    const struct annotate_options *options = a->options;
    struct annotate_source source;
    struct annotate_code code;
    struct stat status;
    bool terminal = isatty(STDOUT_FILENO);
    struct annotate_view view = {
        .function = row->name,
        .object = row->object,
        .info = &a->scan.info,
        .counts = &a->counts,
        .code = &code,
        .symbols = a->profile.symbols,
        .source = &source,
        .function_bytes = row->end - row->start,
        .all_samples = a->profile.all.samples,
        .all_sum = weight >= 0 ? a->profile.all.sums[weight] : 0,
        .weight = weight,
        .limit = options->limit,
        .columns = terminal ? terminal_columns(STDOUT_FILENO, 80) : 0,
        .colours = terminal_colours(STDOUT_FILENO),
    };
    int error =
        annotate_code_read(&code, &a->counts, &a->scan.info, &options->symbols, options->syntax);

    if (error != 0)
        return error;
    annotate_source_init(&source, options->source_dir);
    if (fstat(a->scan.file.fd, &status) == 0 && S_ISREG(status.st_mode))
        source.recorded = status.st_mtim;
    error =
        options->by_line ? annotate_print_lines(stdout, &view) : annotate_print_code(stdout, &view);
    warn_of_sources(&source);
    annotate_source_free(&source);
    annotate_code_free(&code);
    return error;
}

/* The event that stands beside the samples: the one asked for, else instructions, else the first.
 */
static int shown_event(const struct trace_info *info, int event)
{
    int instructions = trace_info_find_event(info, "instructions");

    if (event >= 0 || info->event_count == 0)
        return event;
    if (info->has_exact) /* instructions are shown anyway */
        return trace_info_find_event(info, "taken-branches");
    return instructions >= 0 ? instructions : 0;
}

static int annotate(struct annotate *a, struct selection *selection, int *status)
{
    const struct trace_info *info = &a->scan.info;
    const char *event = a->options->event;
    const struct place *row;
    char names[TRACE_INFO_NAMES_BYTES];
    int weight = -1, error;

    *status = HR_EXIT_USAGE;
    if (event != NULL && strcmp(event, "samples") != 0 &&
        (weight = trace_info_find_event(info, event)) < 0) {
        error_print("--event %s: the trace has no such event; choose samples%s", event,
                    trace_info_event_names(info, names));
        return 0;
    }
    if (trace_info_exact_problem(info, &a->scan.selection) != NULL) {
        *status = HR_EXIT_FAILED;
        error_print("%s: %s", a->options->path, trace_info_exact_problem(info, &a->scan.selection));
        return 0;
    }
    if (a->profile.all.samples == 0) {
        *status = HR_EXIT_FAILED;
        if (selection_is_all(selection))
            reader_nothing(&a->scan, a->options->path, 0);
        else
            error_print("%s: no sample is there, or none that is selected", a->options->path);
        return 0;
    }
    row = annotate_choose(&a->profile, a->options->function);
    if (row == NULL) {
        warn(a);
        return 0;
    }
    error = count_in(a, selection, row, shown_event(info, weight));
    if (error == 0)
        error = print(a, row, weight);
    if (error == 0) {
        warn(a);
        *status = HR_EXIT_OK;
    }
    return error;
}

static int run(struct annotate_options *options)
{
    struct annotate a = {.options = options};
    int status = HR_EXIT_FAILED;
    int error = find_functions(&a, &options->selection);

    if (error == 0) {
        error = annotate(&a, &options->selection, &status);
        trace_scan_close(&a.scan);
    }
    selection_free(&options->selection);
    if (a.has_profile)
        profile_free(&a.profile);
    annotate_counts_free(&a.counts);
    return error == 0 ? status : reader_fail(options->path, error);
}

int annotate_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"event", 'e', "NAME", 0, "Weigh by an event instead of samples", 0},
        {"limit", 'n', "N", 0, "Show only the N hottest instructions or lines, hottest first", 0},
        {"source", 's', NULL, 0, "Add up by source line", 0},
        {"source-dir", KEY_SOURCE_DIR, "DIR", 0, "Look for source files in DIR first", 0},
        {"intel", KEY_INTEL, NULL, 0, "Intel's syntax (default)", 0},
        {"att", KEY_ATT, NULL, 0, "AT&T's syntax", 0},
        {0},
    };
    static const struct argp_child children[] = {{&selection_argp, 0, NULL, 0},
                                                 {&symbols_argp, 0, NULL, 0},
                                                 {&reader_jobs_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        .options = table,
        .children = children,
        .parser = parse,
        .args_doc = "FUNCTION [FILE]",
        .doc =
            "Show the instructions of a function of a trace (default hr.bin), and their source "
            "lines where debug information and source are there, with the samples and the events "
            "at each."
            "\vFUNCTION is a name as hr report shows it, NAME@OBJECT where several files have it, "
            "or an address in it, 0x... A sample's address is that of the next instruction: "
            "what was just done is above the line that shows it.\n\n"
            "Examples:\n"
            "  hr annotate compress                  all of it, in order\n"
            "  hr annotate -n 20 memcpy@libc.so.6    its twenty hottest instructions\n"
            "  hr annotate --source -e cache-misses main  lines by cache misses\n",
    };
    struct annotate_options options = {.syntax = ANNOTATE_INTEL};

    selection_init(&options.selection);
    command_line_parse(&argp, argc, argv, 0, &options);
    options.path = reader_file(options.path);
    return run(&options);
}
