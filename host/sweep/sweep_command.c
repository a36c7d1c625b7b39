/* hr sweep: measures every event of a program in the fewest runs, and shows what it found. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/pair/pair.h"
#include "host/scan/reader.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/runs/sweep_measure.h"
#include "host/sweep/runs/sweep_remote.h"
#include "host/sweep/runs/sweep_task.h"
#include "host/sweep/show/sweep_show.h"
#include "host/sweep/sweep_options.h"
#include "lib/array.h"

static int say(const struct run_failure *failure)
{
    return error_exit(failure->exit_status, "%s", failure->text);
}

static void print_plan(const struct sweep *sweep)
{
    const struct sweep_plan *plan = &sweep->plan;
    const struct sweep_machine *m = &plan->machine;
    char processor[128], cpu[EVENTS_CPU_TEXT_BYTES];

    printf("%zu events in %zu runs", plan->event_count, plan->run_count);
    if (plan->run_count > plan->least)
        printf(" (no plan has less than %zu)", plan->least);
    else
        printf(", as few as there can be");
    if (sweep->repeat > 1)
        printf(", %" PRIu64 " times each: %zu runs", sweep->repeat, sweep->job_count);
    printf("\n%s, %s: %d general and %d fixed counters\n",
           text_escape(processor, sizeof processor, m->processor),
           events_cpu_describe(&m->cpu, cpu), __builtin_popcount(m->general),
           __builtin_popcount(m->fixed));
}

static void print_runs(const struct sweep_plan *plan)
{
    char name[80];

    for (size_t i = 0; i < plan->run_count; i++) {
        printf("run %zu:", i + 1);
        for (uint32_t e = 0; e < plan->runs[i].count; e++)
            printf("%s %s", e != 0 ? "," : "",
                   text_escape(name, sizeof name, plan->events[plan->runs[i].events[e]].name));
        printf("\n");
    }
}

static struct sweep_remote remote;

/* The first run tells the machine; the plan follows from it.  The folder is made. */
static int prepare(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;
    int result;

    if (remote_where_is(&sweep->where))
        result = sweep_remote_begin(&remote, sweep, o->quiet, failure) == 0
                     ? sweep_remote_first(&remote, failure)
                     : -1;
    else
        result = sweep_measure_first(sweep, failure);

    if (result == 0 && o->event_count == 0)
        result = sweep_plan_events(&sweep->plan, SWEEP_EVENTS_DEFAULT, failure);
    for (size_t i = 0; i < o->event_count && result == 0; i++)
        result = sweep_plan_events(&sweep->plan, o->events[i], failure);
    if (result == 0)
        result = sweep_plan_make(&sweep->plan, failure);
    if (result == 0 && sweep->plan.event_count == 0)
        result = run_fail(failure, "-e: nothing but '" SWEEP_AXIS "' is named, which every run "
                                   "counts; name other events");
    if (result == 0 && sweep_make_jobs(sweep) != 0)
        result = run_fail(failure, "out of memory; end other programs");
    if (result == 0 && !o->dry_run)
        result = sweep_folder_save(sweep, failure);
    if (result == 0 && !o->dry_run)
        result = sweep_folder_note(sweep, &sweep->first, failure);
    return result;
}

static size_t not_measured(const struct sweep *sweep)
{
    size_t failed = 0;

    for (size_t i = 0; i < sweep->job_count; i++)
        failed +=
            sweep->jobs[i].state == SWEEP_FAILED && sweep->plan.runs[sweep->jobs[i].run].count == 1;
    return failed;
}

static int conclude(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep_result result;
    struct sweep_data data;
    char folder[SWEEP_PATH_BYTES];

    if (sweep_merge(o->sweep, o->bins, &result, failure) != 0 ||
        sweep_data_load(&data, o->sweep->folder, failure) != 0)
        return say(failure);
    if (!o->quiet)
        sweep_show(&data, SWEEP_TABLE);
    sweep_data_free(&data);
    if (!o->quiet)
        printf("\nNext: hr sweep rank --explain cycles %s\n",
               text_escape(folder, sizeof folder, o->sweep->folder));
    return result.differ != 0 || result.unread != 0 || not_measured(o->sweep) != 0 ? HR_EXIT_FAILED
                                                                                   : HR_EXIT_OK;
}

/* Makes the folder and the plan.  A sweep that does not begin leaves nothing of them. */
static int begin(const struct sweep_options *o, struct run_failure *failure)
{
    struct sweep *sweep = o->sweep;
    int result;

    if (sweep_folder_make(sweep, failure) != 0)
        return -1;
    result = prepare(o, failure);
    if (result != 0 || o->dry_run)
        sweep_remote_end(&remote);
    if (result != 0 || o->dry_run)
        sweep_folder_remove(sweep);
    if (result == 0 && (!o->quiet || o->dry_run))
        print_plan(sweep);
    if (result == 0 && o->dry_run && !o->quiet)
        print_runs(&sweep->plan);
    fflush(stdout);
    return result;
}

static int proceed(const struct sweep_options *o, struct run_failure *failure)
{
    if (sweep_folder_load(o->sweep, failure) != 0)
        return -1;
    if (o->sweep->first.state == SWEEP_DONE)
        return remote_where_is(&o->sweep->where)
                   ? sweep_remote_begin(&remote, o->sweep, o->quiet, failure)
                   : 0;
    return run_fail(failure, "the trace of its first run is missing; begin another sweep");
}

static int measure_all(const struct sweep_options *o, struct run_failure *failure)
{
    int result;

    if (!remote_where_is(&o->sweep->where))
        return sweep_measure_warm_up(o->sweep, o->resume ? 0 : o->warm_up - 1, failure) == 0
                   ? sweep_measure(o->sweep, o->quiet, failure)
                   : -1;
    result = sweep_remote_measure(&remote, failure);
    sweep_remote_end(&remote);
    return result;
}

static int measure(const struct sweep_options *o)
{
    struct run_failure failure = {0};
    struct sweep *sweep = o->sweep;

    if ((o->resume ? proceed(o, &failure) : begin(o, &failure)) != 0)
        return say(&failure);
    if (o->dry_run)
        return HR_EXIT_OK;
    if (measure_all(o, &failure) == 0)
        return conclude(o, &failure);
    error_print("%s; 'hr sweep --resume -o %s' continues", failure.text, sweep->folder);
    return failure.exit_status;
}

static int run_sweep(int argc, char **argv)
{
    static struct sweep sweep;
    struct sweep_options options = {.sweep = &sweep};
    int status;

    argp_err_exit_status = RUN_EXIT_FAILED;
    status = sweep_options_parse(&options, argc, argv) == 0
                 ? measure(&options)
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
    if (argc > 1 && strcmp(argv[1], "pair") == 0)
        return pair_command(argc - 1, argv + 1);
    for (size_t i = 0; argc > 1 && i < ARRAY_COUNT(readers); i++)
        if (strcmp(argv[1], readers[i].name) == 0)
            return read_sweep(&readers[i], argc - 1, argv + 1);
    return run_sweep(argc, argv);
}
