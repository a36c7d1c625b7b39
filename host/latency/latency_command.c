/* hr latency: how long functions took, and why. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/terminal.h"
#include "host/latency/latency_print_detail.h"
#include "host/latency/latency_print_requests.h"
#include "host/latency/latency_read.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define TABLE_LIMIT 40u
#define REQUEST_LIMIT 10u /* of one number that are shown */

enum {
    KEY_BY = 256,
    KEY_COUNTERS,
    KEY_SORT,
    KEY_WORST,
    KEY_CORRELATE,
    KEY_FULL_NAMES,
    KEY_REQUEST,
    KEY_SLOWEST
};

static const char *const by_words[] = {"function", "callsite", "thread", "process", "request"};
static const char *const sort_words[] = {"tail",  "calls", "median", "p90", "p99",
                                         "p99.9", "max",   "total",  "own", "name"};

struct options {
    struct reader reader;
    const char *request; /* of --request */
    bool full_names;
    enum latency_sort sort;
    struct latency_reading reading;
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
    if (options->reading.function != NULL && strcmp(options->reading.function, name) != 0)
        argp_error(state, "--function and --correlate name different functions");
    options->reading.function = name;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    static const struct option_field fields[] = {
        {KEY_COUNTERS, OPTION_FLAG, .offset = offsetof(struct options, reading.counters)},
        {KEY_FULL_NAMES, OPTION_FLAG, .offset = offsetof(struct options, full_names)},
        {KEY_WORST, OPTION_NUMBER, .offset = offsetof(struct options, reading.worst), "worst",
         "not a number from 1 to 1000", 1, LATENCY_WORST_MAX},
        {KEY_SLOWEST, OPTION_NUMBER, .offset = offsetof(struct options, reading.slowest), "slowest",
         "not a number from 1 to 1000", 1, LATENCY_SLOWEST_MAX},
        {KEY_REQUEST, OPTION_TEXT, .offset = offsetof(struct options, request)},
        {0},
    };

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case KEY_BY:
        options->reading.by =
            (enum latency_by)word_of(argument, by_words, ARRAY_COUNT(by_words), "by", state);
        return 0;
    case KEY_SORT:
        options->sort = (enum latency_sort)word_of(argument, sort_words, ARRAY_COUNT(sort_words),
                                                   "sort", state);
        return 0;
    case KEY_CORRELATE:
        options->reading.correlates = true;
        set_function(options, argument, state);
        return 0;
    case 'F':
        set_function(options, argument, state);
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static void print_text(const struct options *options, const struct latency_print *p)
{
    const struct latency_reading *r = &options->reading;

    if (r->worst != 0)
        latency_print_worst(stdout, p, &r->detail);
    if (r->worst != 0 && r->correlates)
        putchar('\n');
    if (r->correlates)
        latency_print_factors(stdout, p, &r->detail);
    if (r->worst == 0 && !r->correlates)
        latency_print_table(stdout, p);
}

static void print_data(struct options *options, const struct latency_print *p, struct output *out)
{
    struct latency_reading *r = &options->reading;
    bool json = options->reader.format == READER_JSON;

    if (r->correlates)
        (json ? latency_print_factors_json : latency_print_factors_csv)(out, p, &r->detail);
    else if (r->worst != 0)
        latency_print_worst_json(out, p, &r->detail);
    else if (r->slowest != 0)
        latency_print_slowest_json(out, p, &r->requests, p->limit);
    else if (r->by == LATENCY_BY_REQUEST)
        (json ? latency_print_requests_json : latency_print_requests_csv)(out, p, &r->requests);
    else
        (json ? latency_print_json : latency_print_csv)(out, p);
}

static int print(struct options *options, const struct latency_print *p)
{
    struct latency_reading *r = &options->reading;
    struct output *out;

    if (options->reader.format == READER_TABLE) {
        if (r->slowest != 0)
            latency_print_slowest(stdout, p, &r->requests, p->limit);
        else if (r->by == LATENCY_BY_REQUEST)
            latency_print_requests(stdout, p, &r->requests);
        else
            print_text(options, p);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    print_data(options, p, out);
    return reader_output_close(out);
}

/* Why there is nothing to show. */
static int say_nothing(const struct options *options)
{
    const struct reader *reader = &options->reader;
    const struct latency_requests *r = &options->reading.requests;

    if (r->unended + r->unknown != 0)
        return error_exit(HR_EXIT_FAILED, "%s: %lu requests began, and none of them ended",
                          reader->path, r->unended + r->unknown);
    if (options->reading.by == LATENCY_BY_REQUEST && options->request != NULL)
        return error_exit(HR_EXIT_FAILED, "%s: no request has the number %lu", reader->path,
                          r->only);
    if (options->reading.by == LATENCY_BY_REQUEST)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no requests; the program says them by libhr: hr_request_begin() and "
                          "hr_request_end()",
                          reader->path);
    if (!reader->scan.info.points.any)
        return latency_read_no_probes(reader->path);
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

static uint32_t limit_of(const struct options *options)
{
    const struct latency_reading *r = &options->reading;
    bool unset = options->reader.limit == READER_LIMIT_UNSET;
    unsigned long limit = reader_limit(&options->reader, TABLE_LIMIT);
    uint32_t all = r->slowest != 0 ? r->requests.kept_count : r->rows.count;

    if (unset && r->slowest != 0)
        limit = options->request != NULL ? REQUEST_LIMIT : 0;
    return (uint32_t)reader_shown(all, limit);
}

static int present(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct latency_reading *r = &options->reading;
    struct latency_print p = {
        .info = &reader->scan.info,
        .threads = &r->threads,
        .rows = &r->rows,
        .tails = &r->tails,
        .limit = limit_of(options),
        .full_names = options->full_names,
        .columns = terminal_columns(STDOUT_FILENO, 0),
    };
    bool any = r->by == LATENCY_BY_REQUEST ? r->requests.ticks.count != 0 : r->rows.count != 0;
    int status;

    if (symbols_open(&p.symbols, &reader->scan.info, reader->scan.symbols) != 0)
        return error_exit(HR_EXIT_FAILED, "no memory");
    status = any ? print(options, &p) : say_nothing(options);
    symbols_close(p.symbols);
    reader_warn(&reader->scan, reader->path, NULL);
    return status;
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct latency_reading *r = &options->reading;

    r->tail = reader->format != READER_CSV && r->worst == 0 && !r->correlates && r->slowest == 0;
    return latency_read(r, &reader->scan, reader->path, options->sort);
}

static void free_all(struct reader *reader)
{
    latency_read_free(&((struct options *)reader)->reading);
}

static const struct argp_option table[] = {
    {"by", KEY_BY, "WHAT", 0,
     "A row for each function (default), and callsite: probed function that called it, thread, "
     "or process; request: those that the program says by libhr",
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
    {"slowest", KEY_SLOWEST, "N", 0, "The N slowest requests, step by step over their threads", 0},
    {"request", KEY_REQUEST, "NUMBER", 0, "Likewise the requests of this number", 0},
    {"limit", 'n', "N", 0, "Show N rows (table: default 40; 0: all)", 0},
    {"full-names", KEY_FULL_NAMES, NULL, 0, "Do not shorten names to fit a terminal", 0},
    {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
    {0},
};

/* Whether what is asked for goes together; says what does not.  Returns 0 or an exit status. */
static int check(struct options *options)
{
    struct latency_reading *r = &options->reading;

    if (options->request != NULL) {
        r->requests.has_only = true;
        if (option_number(options->request, 0, UINT64_MAX, &r->requests.only) != 0)
            return error_exit(HR_EXIT_USAGE, "--request %s: not a number", options->request);
        r->slowest = r->slowest != 0 ? r->slowest : LATENCY_SLOWEST_MAX;
    }
    if (r->slowest != 0)
        r->by = LATENCY_BY_REQUEST;
    if (r->by == LATENCY_BY_REQUEST && (r->function != NULL || r->counters))
        return error_exit(HR_EXIT_USAGE, "requests are of no function: leave %s out",
                          r->counters     ? "--counters"
                          : r->correlates ? "--correlate"
                                          : "--function");
    if (r->worst != 0 && r->function == NULL)
        return error_exit(HR_EXIT_USAGE, r->by == LATENCY_BY_REQUEST
                                             ? "--worst is for a function; --slowest N is for "
                                               "requests"
                                             : "--worst needs --function NAME");
    if ((r->worst != 0 || r->slowest != 0) && options->reader.format == READER_CSV)
        return error_exit(HR_EXIT_USAGE, "%s has no form in csv; choose table or json",
                          r->worst != 0              ? "--worst"
                          : options->request != NULL ? "--request"
                                                     : "--slowest");
    return 0;
}

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
            "'its time' says on which share it was on a CPU or waited. Lines below the table say "
            "for what the longest calls waited, and who held it.\n\n"
            "Examples:\n"
            "  hr latency                                  every probed function\n"
            "  hr latency --function parse --worst 3       its three longest invocations\n"
            "  hr latency --correlate parse                what makes it slow\n"
            "  hr latency --slowest 3                      the three slowest requests\n"
            "  hr latency --by thread --sort max -f csv run.bin\n",
    };
    static const struct reader_command command = {read_trace, present, free_all};
    struct options *options = calloc(1, sizeof *options);
    int status;

    if (options == NULL)
        return error_exit(HR_EXIT_FAILED, "no memory");
    reader_command_line(&options->reader, &argp, argc, argv);
    status = check(options);
    if (status == 0)
        status = reader_run(&options->reader, &command);
    free(options);
    return status;
}
