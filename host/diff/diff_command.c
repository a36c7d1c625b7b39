/* hr diff: what changed from one run to another, and the gate for continuous integration. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/diff/diff_print.h"
#include "host/machine/machine_diff.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define TABLE_LIMIT 20u
#define SHORTEST_INTERVAL_NS 500.0 /* of hr run */

enum {
    KEY_BY = 256,
    KEY_MIN,
    KEY_FAIL_ABOVE,
    KEY_FUNCTION,
    KEY_OLD_PROGRAM,
    KEY_MACHINE,
    KEY_FULL_NAMES
};

struct options {
    struct reader reader;
    const char *paths[2];
    const char *event;
    const char *function;
    const char *old_program;
    enum diff_by by;
    bool by_given;
    struct diff_limit least;
    struct diff_limit fail_above;
    bool machine;
    bool full_names;
};

static enum diff_by parse_by(const char *argument, const struct argp_state *state)
{
    static const char *const names[] = {"function", "library", "line"};
    int found = option_word(argument, names, ARRAY_COUNT(names));

    if (found < 0)
        argp_error(state, "--by %s: choose function, library or line", argument);
    return (enum diff_by)found;
}

static void parse_limit(const char *option, const char *argument, struct diff_limit *limit,
                        const struct argp_state *state)
{
    if (!diff_parse_limit(argument, limit))
        argp_error(state, "--%s %s: neither a share nor a number; write 1%% or 500", option,
                   argument);
}

static error_t parse_path(int key, char *argument, struct argp_state *state,
                          struct options *options)
{
    if (key == ARGP_KEY_END && options->paths[1] == NULL)
        argp_error(state, "two traces are needed: the one before and the one after");
    if (key != ARGP_KEY_ARG)
        return reader_parse(key, argument, state);
    if (options->paths[1] != NULL)
        argp_error(state, "%s: hr diff compares two traces; leave the others out", argument);
    options->paths[options->paths[0] != NULL] = argument;
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'e', OPTION_TEXT, .offset = offsetof(struct options, event)},
        {KEY_FUNCTION, OPTION_TEXT, .offset = offsetof(struct options, function)},
        {KEY_FULL_NAMES, OPTION_FLAG, .offset = offsetof(struct options, full_names)},
        {KEY_MACHINE, OPTION_FLAG, .offset = offsetof(struct options, machine)},
        {KEY_OLD_PROGRAM, OPTION_TEXT, .offset = offsetof(struct options, old_program)},
        {0},
    };
    struct options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case KEY_BY:
        options->by = parse_by(argument, state);
        options->by_given = true;
        return 0;
    case KEY_MIN:
        parse_limit("min", argument, &options->least, state);
        return 0;
    case KEY_FAIL_ABOVE:
        parse_limit("fail-above", argument, &options->fail_above, state);
        return 0;
    default:
        return parse_path(key, argument, state, options);
    }
}

static int present(const struct diff *diff, const struct options *options)
{
    unsigned long limit = reader_limit(&options->reader, TABLE_LIMIT);
    struct output *out;

    if (options->reader.format == READER_TABLE) {
        diff_print(stdout, diff, &options->least, limit, options->full_names);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (options->reader.format == READER_CSV ? diff_rows_csv : diff_rows_json)(out, diff,
                                                                            &options->least, limit);
    return reader_output_close(out);
}

static bool is_incomplete(const struct diff_side *side)
{
    if (side->scan.partial || trace_audit_complete(&side->scan.audit))
        return false;
    error_print("%s is incomplete, so --fail-above cannot pass; record the run again", side->path);
    return true;
}

/* What keeps a gate from deciding anything; said.  A gate must not open because something could not
 * be seen. */
static bool cannot_decide(const struct diff *diff)
{
    const struct diff_side *sides[] = {diff->a, diff->b};
    int events[] = {diff->event, diff->event_b};
    enum hr_source sources[2] = {HR_SOURCE_NONE, HR_SOURCE_NONE};
    char room[64];

    if (is_incomplete(diff->a) || is_incomplete(diff->b))
        return true;
    for (int i = 0; i < 2; i++) {
        if (events[i] < 0)
            continue;
        sources[i] = sides[i]->scan.info.events[events[i]].meta.source;
        if (sources[i] == HR_SOURCE_STUB || sources[i] == HR_SOURCE_NONE) {
            error_print(
                "%s: %s was not measured (%s), so --fail-above cannot pass; choose another --event",
                sides[i]->path,
                trace_info_event_word(&sides[i]->scan.info, (uint32_t)events[i], room),
                trace_info_source(sources[i]));
            return true;
        }
    }
    if (sources[0] == sources[1])
        return false;
    error_print("%s and %s: their counts come from different sources (%s, %s), so --fail-above "
                "cannot pass; record both alike",
                diff->a->path, diff->b->path, trace_info_source(sources[0]),
                trace_info_source(sources[1]));
    return true;
}

/* Whether samples are too few for the limit of a function; then that is said, with what would do.
 */
static bool is_too_coarse(const struct diff *diff, const struct diff_change *change,
                          const struct options *options)
{
    const struct diff_limit *limit = &options->fail_above;
    double least = diff_chance(diff, change), allowed = limit->value, interval_ns;
    char time[TEXT_QUANTITY_BYTES], advice[128] = "";
    double all = (double)(change->before > change->after ? change->before : change->after);

    if (limit->percent)
        allowed *= (double)change->before / 100;
    if (least == 0 || least <= allowed)
        return false;
    /* The error falls with the square root of the interval. */
    interval_ns =
        (double)trace_info_interval_ns(&diff->b->scan.info) * (allowed / least) * (allowed / least);
    if (interval_ns >= SHORTEST_INTERVAL_NS)
        snprintf(advice, sizeof advice, ", with an interval of %s", text_time(time, interval_ns));
    error_print(
        "--function %s: its samples can show changes of %.2g%% or more, so --fail-above %g%s "
        "cannot be decided; record it with --mode exact%s, or as a region (docs/libhr.md)",
        options->function, all > 0 ? 100 * least / all : 100.0, limit->value,
        limit->percent ? "%" : "", advice);
    return true;
}

/* The change of --function, or of everything.  False when it is of no function, said. */
static bool find_change(const struct diff *diff, const char *function, struct diff_change *change)
{
    struct function_choice choice;

    *change = diff_total(diff);
    if (function == NULL)
        return true;
    function_choice_init(&choice, function);
    diff_offer_functions(diff, &choice);
    if (function_choice_name(&choice, "--function ",
                             "neither trace has a sample in a function of that name") == NULL)
        return false;
    diff_function(diff, &choice, change);
    return true;
}

static int check_gate(const struct diff *diff, const struct options *options)
{
    struct diff_change change;
    char size[TEXT_QUANTITY_BYTES + 1], relative[TEXT_QUANTITY_BYTES];
    char before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES];
    const struct trace_info *info = &diff->a->scan.info;
    char room[64];

    if (!find_change(diff, options->function, &change))
        return HR_EXIT_USAGE;
    if (!options->fail_above.given)
        return HR_EXIT_OK;
    if (cannot_decide(diff) || (options->function != NULL && is_too_coarse(diff, &change, options)))
        return HR_EXIT_USAGE;
    if (!diff_grew(&change, &options->fail_above))
        return HR_EXIT_OK;
    return error_exit(
        HR_EXIT_FAILED, "%s%s%s grew by %s (%s), from %s to %s: more than --fail-above %g%s",
        diff->event < 0 ? "samples" : trace_info_event_word(info, (uint32_t)diff->event, room),
        options->function != NULL ? " in " : "", options->function != NULL ? options->function : "",
        diff_change_text(size, &change) + 1, diff_relative_text(relative, &change),
        text_count(before, change.before), text_count(after, change.after),
        options->fail_above.value, options->fail_above.percent ? "%" : "");
}

static void warn(const struct diff_side *side)
{
    object_share_warn(&side->share, &side->scan.info, side->symbols, side->path);
    reader_warn(&side->scan, side->path, NULL);
}

static int compare(const struct options *options, struct diff_side *a, struct diff_side *b)
{
    struct diff diff;
    int error = diff_compare(&diff, a, b, options->event);
    int status, gate;

    if (error == -ENOENT) {
        reader_event(diff.event < 0 ? &a->scan.info : &b->scan.info, options->event);
        return HR_EXIT_USAGE;
    }
    if (error != 0) {
        reader_fail(a->path, error);
        return HR_EXIT_USAGE;
    }
    status = present(&diff, options);
    warn(a);
    warn(b);
    gate = check_gate(&diff, options);
    diff_free(&diff);
    return status != HR_EXIT_OK ? HR_EXIT_USAGE : gate;
}

/* HR_EXIT_USAGE for all that goes wrong: 1 is for growth alone. */
static int read_side(struct diff_side *side, struct options *options, int which,
                     struct selection *selection, const char *alias)
{
    static struct symbols_options old;
    const char *exact;
    uint64_t last;
    int error;

    old = options->reader.symbols;
    old.program = options->old_program;
    error = diff_side_read(side, options->paths[which], selection,
                           which == 0 ? &old : &options->reader.symbols,
                           (unsigned int)options->reader.jobs, options->by, alias);
    if (error != 0) {
        reader_fail(options->paths[which], error);
        return HR_EXIT_USAGE;
    }
    exact = trace_info_exact_problem(&side->scan.info, &side->scan.selection);
    if (exact != NULL)
        return error_exit(HR_EXIT_USAGE, "%s: %s", options->paths[which], exact);
    last = side->scan.info.has_exit ? side->scan.info.exit.time : 0;
    if (side->all.samples == 0) {
        reader_nothing(&side->scan, options->paths[which], last);
        return HR_EXIT_USAGE;
    }
    return HR_EXIT_OK;
}

static int run(struct options *options)
{
    static struct diff_side sides[2];
    struct selection second;
    int error = selection_copy(&second, &options->reader.selection);
    int status;

    if (error != 0) {
        reader_fail(options->paths[0], error);
        return HR_EXIT_USAGE;
    }
    status = read_side(&sides[0], options, 0, &options->reader.selection, NULL);
    if (status == HR_EXIT_OK)
        status = read_side(&sides[1], options, 1, &second, sides[0].program);
    if (status == HR_EXIT_OK)
        status = compare(options, &sides[0], &sides[1]);
    selection_free(&second);
    diff_side_free(&sides[0]);
    diff_side_free(&sides[1]);
    return status;
}

static int compare_machines(struct options *options)
{
    bool all = selection_is_all(&options->reader.selection);
    const char *needless = !all                     ? "what selects a part of the run"
                           : options->event != NULL ? "--event"
                           : options->by_given      ? "--by"
                           : options->least.given   ? "--min"
                           : options->reader.limit != READER_LIMIT_UNSET ? "--limit"
                           : options->fail_above.given                   ? "--fail-above"
                           : options->function != NULL                   ? "--function"
                           : options->old_program != NULL                ? "--old-program"
                                                                         : NULL;

    selection_free(&options->reader.selection);
    if (needless == NULL)
        return machine_diff(options->paths[0], options->paths[1], options->reader.format);
    return error_exit(HR_EXIT_USAGE, "--machine compares machines, not counts; leave out %s",
                      needless);
}

int diff_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"event", 'e', "NAME", 0, "Compare places by this event (default instructions) or samples",
         0},
        {"by", KEY_BY, "WHAT", 0, "Places: function (default), library or line", 0},
        {"min", KEY_MIN, "N", 0, "Leave out places that changed by no more than N, or N%", 0},
        {"limit", 'n', "N", 0, "Show the N that changed most (table: default 20; 0: all)", 0},
        {"full-names", KEY_FULL_NAMES, NULL, 0, "Do not shorten functions' names to fit a terminal",
         0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {"machine", KEY_MACHINE, NULL, 0,
         "Show what differs between the two machines instead, what explains most first", 0},
        {"fail-above", KEY_FAIL_ABOVE, "N", 0,
         "Exit with status 1 if the event grew by more than N, or N%, in all; with 2 if that "
         "cannot be decided",
         1},
        {"function", KEY_FUNCTION, "NAME", 0, "--fail-above is for this function", 1},
        {"old-program", KEY_OLD_PROGRAM, "PATH", 0,
         "Take the symbols of BEFORE's program from PATH; --program is for AFTER's", 5},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "BEFORE AFTER",
        .doc = "Show what changed from one trace to another: totals, and functions by what they "
               "counted."
               "\vFunctions are the same if their names and files are, whatever their addresses. "
               "Emulated runs of one program repeat exactly: any change is the program's.\n\n"
               "Examples:\n"
               "  hr diff before.bin after.bin\n"
               "  hr diff --fail-above 1% before.bin after.bin      a gate on instructions\n"
               "  hr diff --by line --event branches before.bin after.bin\n"
               "  hr diff --machine here.bin there.bin\n",
    };
    struct options options = {0};
    int status;

    reader_command_line(&options.reader, &argp, argc, argv);
    status = options.machine ? compare_machines(&options) : run(&options);
    if (status != HR_EXIT_OK || (fflush(stdout) == 0 && !ferror(stdout)))
        return status;
    reader_print_failure(-errno);
    return HR_EXIT_USAGE; /* 1 is for growth alone */
}
