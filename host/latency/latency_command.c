/* hr latency: how long functions took, and why. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/terminal.h"
#include "host/latency/latency_print_detail.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/symbols/called.h"
#include "host/symbols/symbols_demangle.h"
#include "lib/array.h"

#define TABLE_LIMIT 40u
#define WRONG_FUNCTION 1 /* of `begin`: there is none of that name */

enum { KEY_BY = 256, KEY_COUNTERS, KEY_SORT, KEY_WORST, KEY_CORRELATE, KEY_FULL_NAMES };

static const char *const by_words[] = {"function", "callsite", "thread", "process"};
static const char *const sort_words[] = {"tail",  "calls", "median", "p90", "p99",
                                         "p99.9", "max",   "total",  "own", "name"};

struct options {
    struct reader reader;
    const char *function; /* of --function or --correlate */
    uint64_t worst;
    bool counters, correlates, full_names;
    enum latency_by by;
    enum latency_sort sort;
    struct latency_threads threads;
    struct latency_rows rows;
    struct latency_detail detail;
};

static int word_of(const char *word, const char *const *words, size_t count, const char *option,
                   const struct argp_state *state)
{
    int n = option_word(word, words, count);

    if (n < 0)
        argp_error(state, "--%s %s: choose one of those that --help names", option, word);
    return n;
}

static void set_function(struct options *options, const char *name, const struct argp_state *state)
{
    if (options->function != NULL && strcmp(options->function, name) != 0)
        argp_error(state, "--function and --correlate name different functions");
    options->function = name;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    static const struct option_field fields[] = {
        {KEY_COUNTERS, OPTION_FLAG, .offset = offsetof(struct options, counters)},
        {KEY_FULL_NAMES, OPTION_FLAG, .offset = offsetof(struct options, full_names)},
        {KEY_WORST, OPTION_NUMBER, .offset = offsetof(struct options, worst), "worst",
         "not a number from 1 to 1000", 1, LATENCY_WORST_MAX},
        {0},
    };

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case KEY_BY:
        options->by =
            (enum latency_by)word_of(argument, by_words, ARRAY_COUNT(by_words), "by", state);
        return 0;
    case KEY_SORT:
        options->sort = (enum latency_sort)word_of(argument, sort_words, ARRAY_COUNT(sort_words),
                                                   "sort", state);
        return 0;
    case KEY_CORRELATE:
        options->correlates = true;
        set_function(options, argument, state);
        return 0;
    case 'F':
        set_function(options, argument, state);
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static void returned(void *context, const struct latency_call *call)
{
    struct options *options = context;

    latency_rows_returned(&options->rows, call);
    if (options->detail.function != TRACE_POINTS_NONE)
        latency_detail_returned(&options->detail, call);
}

static void lost(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end end)
{
    struct options *options = context;

    latency_rows_lost(&options->rows, thread, slot, end);
    latency_detail_lost(&options->detail, thread, slot);
}

static void entered(void *context, struct latency_thread *thread, uint32_t slot)
{
    latency_detail_entered(&((struct options *)context)->detail, thread, slot);
}

static void waited(void *context, struct latency_thread *thread, const struct latency_wait *wait)
{
    latency_detail_waited(&((struct options *)context)->detail, thread, wait);
}

static bool is_named(const char *name, const char *wanted)
{
    char *plain;
    size_t bytes = strlen(wanted);
    bool same;

    if (strcmp(name, wanted) == 0)
        return true;
    plain = symbols_demangle(name);
    same = plain != NULL && strncmp(plain, wanted, bytes) == 0 &&
           (plain[bytes] == 0 || plain[bytes] == '(');
    free(plain);
    return same;
}

/* Finds the function that the options name; 0, or WRONG_FUNCTION. */
static int find_function(const struct options *options, const struct trace_points *points,
                         uint32_t *function)
{
    *function = TRACE_POINTS_NONE;
    if (options->function == NULL)
        return 0;
    for (uint32_t i = 0; i < points->meta.function_count; i++)
        if (points->functions[i].name != NULL &&
            is_named(points->functions[i].name, options->function)) {
            *function = i;
            return 0;
        }
    return WRONG_FUNCTION;
}

/* The trace has said what is probed. */
static int begin(void *context)
{
    struct options *options = context;
    struct trace_info *info = &options->reader.scan.info;
    uint32_t function;
    int error = called_name(info, &options->reader.symbols);

    if (error != 0)
        return error;
    error = find_function(options, &info->points, &function);
    options->rows.only = function;
    options->rows.by = options->by;
    options->rows.with_counters = options->counters;
    options->threads.follower = (struct latency_follower){options, NULL, returned, lost, NULL};
    if (options->worst == 0 && !options->correlates)
        function = TRACE_POINTS_NONE;
    if (function != TRACE_POINTS_NONE) {
        options->threads.follower.entered = entered;
        options->threads.follower.waited = waited;
    }
    if (error == 0)
        error = latency_threads_init(&options->threads, info);
    if (error == 0)
        error = latency_rows_init(&options->rows, info);
    if (error == 0)
        error = latency_detail_init(&options->detail, info, function, (uint32_t)options->worst);
    return error;
}

static int say_wrong(const struct options *options)
{
    const struct trace_points *points = &options->reader.scan.info.points;

    if (!points->any)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no probes; place some with 'hr run --probe FUNCTION'",
                          options->reader.path);
    return error_exit(HR_EXIT_USAGE,
                      "%s: no probe of that name; the trace has %u, 'hr latency' "
                      "shows them",
                      options->function, trace_points_count(points));
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct latency_sink sink;
    int result;

    options->threads.follower.lost = lost;
    sink = latency_threads_sink(&options->threads);
    result = latency_order_run(&reader->scan, begin, options, &sink);
    if (result == WRONG_FUNCTION)
        return say_wrong(options);
    if (result != 0)
        return result;
    latency_threads_finish(&options->threads);
    latency_rows_sort(&options->rows, options->sort);
    if (options->detail.function != TRACE_POINTS_NONE)
        result = latency_detail_finish(&options->detail);
    if (result == 0)
        result = options->rows.error != 0 ? options->rows.error : options->detail.error;
    return result;
}

static void print_text(const struct options *options, const struct latency_print *p)
{
    if (options->worst != 0)
        latency_print_worst(stdout, p, &options->detail);
    if (options->worst != 0 && options->correlates)
        putchar('\n');
    if (options->correlates)
        latency_print_factors(stdout, p, &options->detail);
    if (options->worst == 0 && !options->correlates)
        latency_print_table(stdout, p);
}

static int print(const struct options *options, const struct latency_print *p)
{
    bool json = options->reader.format == READER_JSON;
    struct output *out;

    if (options->reader.format == READER_TABLE) {
        print_text(options, p);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    if (options->correlates)
        (json ? latency_print_factors_json : latency_print_factors_csv)(out, p, &options->detail);
    else if (options->worst != 0)
        latency_print_worst_json(out, p, &options->detail);
    else
        (json ? latency_print_json : latency_print_csv)(out, p);
    return reader_output_close(out);
}

/* Why there is nothing to show. */
static int say_nothing(const struct options *options)
{
    const struct reader *reader = &options->reader;

    if (!reader->scan.info.points.any)
        return say_wrong(options);
    if (!selection_is_all(&reader->scan.selection))
        return error_exit(HR_EXIT_FAILED, "%s: no invocation is selected", reader->path);
    if (trace_points_called(&reader->scan.info.points))
        return error_exit(HR_EXIT_FAILED,
                          "%s: no function with hooks was called; build the program with "
                          "-finstrument-functions, and link libhr.a",
                          reader->path);
    return error_exit(HR_EXIT_FAILED, "%s: no probed function was called (%u are probed)",
                      reader->path, trace_points_count(&reader->scan.info.points));
}

static int present(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    unsigned long limit = reader_limit(reader, TABLE_LIMIT);
    struct latency_print p = {
        .info = &reader->scan.info,
        .threads = &options->threads,
        .rows = &options->rows,
        .limit = options->rows.count,
        .full_names = options->full_names,
        .columns = terminal_columns(STDOUT_FILENO, 0),
    };
    int status;

    if (limit != 0 && limit < p.limit)
        p.limit = (uint32_t)limit;
    if (options->rows.count == 0)
        status = say_nothing(options);
    else
        status = print(options, &p);
    reader_warn(&reader->scan, reader->path, NULL);
    return status;
}

static void free_all(struct reader *reader)
{
    struct options *options = (struct options *)reader;

    latency_threads_free(&options->threads);
    latency_rows_free(&options->rows);
    latency_detail_free(&options->detail);
}

static const struct argp_option table[] = {
    {"by", KEY_BY, "WHAT", 0,
     "A row for each function (default), and callsite: probed function that called it, thread, "
     "or process",
     0},
    {"function", 'F', "NAME", 0, "Only this function", 0},
    {"counters", KEY_COUNTERS, NULL, 0, "Distributions of each event, too", 0},
    {"sort", KEY_SORT, "KEY", 0,
     "By tail (default: p99.9 less median), calls, median, p90, p99, p99.9, max, total, own or "
     "name",
     0},
    {"worst", KEY_WORST, "N", 0,
     "With --function: the N longest invocations, step by step, and what is unusual", 0},
    {"correlate", KEY_CORRELATE, "NAME", 0,
     "What goes with the duration of this function: events, waits, callees", 0},
    {"limit", 'n', "N", 0, "Show N rows (table: default 40; 0: all)", 0},
    {"full-names", KEY_FULL_NAMES, NULL, 0, "Do not shorten names to fit a terminal", 0},
    {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
    {0},
};

int latency_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .children = reader_part,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc =
            "Show how long probed functions took, and where the time went (trace: default "
            "hr.bin)."
            "\vThe run needs probes: 'hr run --probe FUNCTION'. 'own' is without probed callees; "
            "'its time' says on which share it was on a CPU or waited.\n\n"
            "Examples:\n"
            "  hr latency                                  every probed function\n"
            "  hr latency --function parse --worst 3       its three longest invocations\n"
            "  hr latency --correlate parse                what makes it slow\n"
            "  hr latency --by thread --sort max -f csv run.bin\n",
    };
    static const struct reader_command command = {read_trace, present, free_all};
    struct options *options = calloc(1, sizeof *options);
    int status;

    if (options == NULL)
        return error_exit(HR_EXIT_FAILED, "no memory");
    reader_command_line(&options->reader, &argp, argc, argv);
    if (options->worst != 0 && options->function == NULL) {
        free(options);
        return error_exit(HR_EXIT_USAGE, "--worst needs --function NAME");
    }
    if (options->worst != 0 && options->reader.format == READER_CSV) {
        free(options);
        return error_exit(HR_EXIT_USAGE, "--worst has no form in csv; choose table or json");
    }
    status = reader_run(&options->reader, &command);
    free(options);
    return status;
}
