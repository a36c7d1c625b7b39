/* hr sweep: measures every event of a program in the fewest runs, and shows what it found. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/pair/pair.h"
#include "host/scan/reader.h"
#include "host/sweep/runs/sweep_task.h"
#include "host/sweep/show/sweep_show.h"
#include "host/sweep/sweep_options.h"
#include "host/sweep/sweep_perform.h"
#include "host/sweep/sweep_take.h"
#include "lib/array.h"

static int run_sweep(int argc, char **argv)
{
    static struct sweep sweep;
    struct sweep_options options = {.sweep = &sweep};
    int status;

    argp_err_exit_status = RUN_EXIT_FAILED;
    status = sweep_options_parse(&options, argc, argv) == 0
                 ? sweep_perform(&options)
                 : error_exit(RUN_EXIT_FAILED, "out of memory; end other programs");
    sweep_options_free(&options);
    sweep_free(&sweep);
    return status;
}

struct reading { /* the options of show, rank, plot, view and export */
    const char *folder;
    const char *target;
    char **without; /* owned */
    size_t without_count;
    const char *output;
    const char *kind; /* of export */
    const char *metrics; /* a list, or "all"; NULL: not asked for */
    enum sweep_by by;
    uint64_t limit; /* READER_LIMIT_UNSET: not given */
    enum sweep_format format;
};

static error_t parse_reading(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = {"table", "csv", "json"};
    static const char *const kinds[] = {"phase", "function", "bin"};
    struct reading *r = state->input;
    int format, kind;

    switch (key) {
    case 'f':
        format = option_word(argument, formats, ARRAY_COUNT(formats));
        if (format < 0)
            argp_error(state, "--format %s: choose table, csv or json", argument);
        r->format = (enum sweep_format)format;
        return 0;
    case 'm':
        r->metrics = argument != NULL ? argument : "all";
        return 0;
    case 'b':
        kind = option_word(argument, kinds, ARRAY_COUNT(kinds));
        if (kind < 0)
            argp_error(state, "--by %s: choose phase, function or bin", argument);
        r->by = (enum sweep_by)(SWEEP_BY_PHASE + kind);
        return 0;
    case 'n':
        if (option_number(argument, 0, UINT32_MAX, &r->limit) != 0)
            argp_error(state, "--limit %s: give a number; 0 shows all", argument);
        return 0;
    case 'x':
        r->target = argument;
        return 0;
    case 'w':
        return -array_append_text(&r->without, &r->without_count, argument);
    case 'o':
        r->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (r->kind != NULL && r->kind[0] == 0)
            r->kind = argument;
        else if (r->folder == NULL)
            r->folder = argument;
        else
            return ARGP_ERR_UNKNOWN;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int load(const struct reading *r, struct sweep_data *data)
{
    struct run_failure failure = {0};

    if (sweep_data_load(data, r->folder != NULL ? r->folder : SWEEP_FOLDER_DEFAULT, &failure) == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "%s", failure.text);
}

static int show(const struct reading *r, const struct sweep_data *data)
{
    if (r->metrics != NULL && r->by != SWEEP_BY_NONE)
        return error_exit(HR_EXIT_USAGE, "--metrics are of the whole program; leave out --by");
    if (r->by != SWEEP_BY_NONE)
        return sweep_by_show(data, r->folder != NULL ? r->folder : SWEEP_FOLDER_DEFAULT, r->by,
                             r->format, r->limit);
    return r->metrics != NULL ? sweep_metrics(data, r->metrics, r->format)
                              : sweep_show(data, r->format);
}

static int rank(const struct reading *r, const struct sweep_data *data)
{
    return sweep_rank(data, r->target != NULL ? r->target : "cycles", r->without, r->without_count,
                      r->format);
}

static int plot(const struct reading *r, const struct sweep_data *data)
{
    return sweep_plot(data, r->output != NULL ? r->output : "sweep.svg");
}

static int view(const struct reading *r, const struct sweep_data *data)
{
    return sweep_view(data, r->output != NULL ? r->output : "sweep.html");
}

static int export(const struct reading *r, const struct sweep_data *data)
{
    char folder[SWEEP_PATH_BYTES];

    if (strcmp(r->kind, "autoperf") != 0)
        return error_exit(HR_EXIT_USAGE, "hr sweep export %s: there is one export: autoperf",
                          r->kind);
    snprintf(folder, sizeof folder, "%s/autoperf",
             r->folder != NULL ? r->folder : SWEEP_FOLDER_DEFAULT);
    return sweep_export(data, r->output != NULL ? r->output : folder);
}

#define FORMAT_OPTION                                                 \
    {                                                                 \
        "format", 'f', "FORMAT", 0, "table (default), csv or json", 0 \
    }

static const struct argp_option show_options[] = {
    {"metrics", 'm', "LIST", OPTION_ARG_OPTIONAL,
     "what the means come to instead: all metrics, or those of LIST, such as @tma2", 0},
    {"by", 'b', "KIND", 0,
     "what they are in each phase (a region or a section between marks), function or bin "
     "(a part of the program)",
     0},
    {"limit", 'n', "N", 0, "show N phases or functions (default 10 in a table; 0: all)", 0},
    FORMAT_OPTION,
    {0}};
static const struct argp_option rank_options[] = {
    {"explain", 'x', "EVENT", 0, "the event to explain (default cycles)", 0},
    {"without", 'w', "PATTERN", 0,
     "leave out events that say the same in other words, such as '*SLOTS*'; may be repeated", 0},
    FORMAT_OPTION,
    {0}};
static const struct argp_option plot_options[] = {
    {"output", 'o', "FILE", 0, "SVG file to write (default sweep.svg)", 0}, {0}};
static const struct argp_option view_options[] = {
    {"output", 'o', "FILE", 0, "page to write, - for standard output (default sweep.html)", 0},
    {0}};
static const struct argp_option export_options[] = {
    {"output", 'o', "DIR", 0, "folder to write to (default autoperf in FOLDER)", 0}, {0}};

static const struct reader_of_sweeps {
    const char *name;
    const struct argp_option *options;
    int (*run)(const struct reading *r, const struct sweep_data *data);
    const char *arguments;
    const char *doc;
} readers[] = {
    {"show", show_options, show, "[FOLDER]",
     "Shows the events of a sweep: mean, 95 % interval of the mean by the bootstrap (half of it), "
     "deviation of a single run, and counts in 1,000 instructions."},
    {"rank", rank_options, rank, "[FOLDER]",
     "Shows which events explain another one along the program.\vA model is fitted by least "
     "squares to four fifths of the program's parts and judged by the rest, five times; "
     "neighbouring parts are left out together.  'explained' is the share of the variation that "
     "it predicts there.  'chance' is the probability that independent parts show this "
     "correlation without a reason; parts that follow each other are not independent, so it is a "
     "lower bound."},
    {"plot", plot_options, plot, "[FOLDER]",
     "Draws the correlation of every event with every other along the program."},
    {"view", view_options, view, "[FOLDER]",
     "Writes a page for the browser: the correlation of every event with every other, each pair "
     "part by part, and a table of all events."},
    {"export", export_options, export, "autoperf [FOLDER]",
     "Writes perf.csv, results.csv, timeseries.csv and correlation_matrix.csv as autoperf does, "
     "with parts of the program for intervals of time."},
};

static int read_sweep(const struct reader_of_sweeps *reader, int argc, char **argv)
{
    const struct argp argp = {.options = reader->options,
                              .parser = parse_reading,
                              .args_doc = reader->arguments,
                              .doc = reader->doc};
    struct reading r = {.kind = reader->run == export ? "" : NULL, .limit = READER_LIMIT_UNSET};
    struct sweep_data data;
    char name[32];
    int status;

    snprintf(name, sizeof name, "hr sweep %s", reader->name);
    argv[0] = name;
    command_line_parse(&argp, argc, argv, 0, &r);
    if (r.kind != NULL && r.kind[0] == 0)
        return error_exit(HR_EXIT_USAGE, "hr sweep export: say what for: autoperf");
    status = load(&r, &data);
    if (status != HR_EXIT_OK)
        return status;
    status = reader->run(&r, &data);
    sweep_data_free(&data);
    return status;
}

int sweep_command(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "task") == 0)
        return sweep_task_command(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "take") == 0)
        return sweep_take_command(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "pair") == 0)
        return pair_command(argc - 1, argv + 1);
    for (size_t i = 0; argc > 1 && i < ARRAY_COUNT(readers); i++)
        if (strcmp(argv[1], readers[i].name) == 0)
            return read_sweep(&readers[i], argc - 1, argv + 1);
    return run_sweep(argc, argv);
}
