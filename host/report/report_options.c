/* The options of hr report. */
#include "host/report/report_options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/option.h"
#include "host/scan/reader.h"

#define DEFAULT_LIMIT 40 /* of the rows of a table */
#define DEFAULT_MIN_PERCENT 0.5 /* of a tree's branches */

enum { /* options without a letter */
       KEY_REGIONS = 256,
       KEY_MARKS,
       KEY_WAITS,
       KEY_STACKS,
       KEY_CALLERS,
       KEY_TOTAL,
       KEY_NO_TOTAL,
       KEY_MIN,
       KEY_NO_PAGER,
       KEY_FULL_NAMES,
       KEY_METRIC,
};

static void set_view(struct report_options *options, enum report_view view,
                     const struct argp_state *state)
{
    if (options->view != REPORT_TABLE && options->view != view)
        argp_error(state, "--regions, --marks, --waits, --stacks and --callers are reports of "
                          "their own; ask for one at a time");
    options->view = view;
}

static void set_by(struct report_options *options, const char *list, const struct argp_state *state)
{
    if (strcmp(list, "region") == 0)
        set_view(options, REPORT_REGIONS, state);
    else if (strcmp(list, "stack") == 0)
        set_view(options, REPORT_TREE, state);
    else if (!report_parse_by(options, list))
        argp_error(state,
                   "--by %s: choose one of function, line, library, address, python, python-line, "
                   "and with it or alone process, thread, cpu, mark; or region or stack alone",
                   list);
}

static void set_min(struct report_options *options, const char *text,
                    const struct argp_state *state)
{
    char *end;

    errno = 0;
    options->min_percent = strtod(text, &end);
    if (*end == '%')
        end++;
    if (end == text || *end != 0 || errno != 0 || !isfinite(options->min_percent) ||
        options->min_percent < 0 || options->min_percent > 100)
        argp_error(state, "--min %s: not a share in percent, such as 1 or 0.5%%", text);
}

bool report_has(const struct report_options *o, enum report_dimension by)
{
    for (unsigned int i = 0; i < o->by_count; i++)
        if (o->by[i] == by)
            return true;
    return false;
}

/* What goes with what, and the defaults. */
static void conclude(struct report_options *o, const struct argp_state *state)
{
    bool table = o->view == REPORT_TABLE;
    bool list = report_is_list(o);

    if (o->view == REPORT_MARKS && o->sort != NULL)
        argp_error(state, "--sort %s: marks are in the order of time; leave it out", o->sort);
    if (o->view == REPORT_WAITS && o->sort != NULL)
        argp_error(state, "--sort %s: waits are in the order of their totals; leave it out",
                   o->sort);
    if (o->by_count != 0 && !table)
        argp_error(state, "--by works only with the table, and another kind of report was asked "
                          "for; leave one of them out");
    if (o->reader.follow && (o->view == REPORT_CALLERS || report_has(o, REPORT_BY_MARK)))
        argp_error(state,
                   "--follow: callers and sections between marks need the whole trace; leave "
                   "out --follow");
    if (o->reader.interval_ns != 0 && o->reader.format != READER_TABLE)
        argp_error(state, "--interval works only with a table; leave out --format");
    if (o->reader.format != READER_TABLE && list)
        argp_error(state, "--format: regions are in 'hr stat --json', marks in 'hr dump --format "
                          "records', waits in 'hr noise --format json'; leave it out");
    if (o->metric != NULL && !table && o->view != REPORT_REGIONS)
        argp_error(state, "--metric: only tables and regions have metrics; leave it out");
    if (o->total && o->no_total)
        argp_error(state, "--total and --no-total: choose one");
    if (o->by_count == 0)
        o->by[o->by_count++] = REPORT_BY_FUNCTION;
    o->reader.limit = reader_limit(&o->reader, table ? DEFAULT_LIMIT : 0);
    if (o->min_percent < 0)
        o->min_percent = table || list ? 0 : DEFAULT_MIN_PERCENT;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'e', OPTION_TEXT, .offset = offsetof(struct report_options, sort)},
        {KEY_METRIC, OPTION_TEXT, .offset = offsetof(struct report_options, metric)},
        {'s', OPTION_TEXT, .offset = offsetof(struct report_options, sort)},
        {KEY_TOTAL, OPTION_FLAG, .offset = offsetof(struct report_options, total)},
        {KEY_NO_TOTAL, OPTION_FLAG, .offset = offsetof(struct report_options, no_total)},
        {KEY_FULL_NAMES, OPTION_FLAG, .offset = offsetof(struct report_options, full_names)},
        {KEY_NO_PAGER, OPTION_FLAG, .offset = offsetof(struct report_options, no_pager)},
        {0},
    };
    struct report_options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case ARGP_KEY_END:
        conclude(options, state);
        return 0;
    case 'b':
        set_by(options, argument, state);
        return 0;
    case KEY_MIN:
        set_min(options, argument, state);
        return 0;
    case 'f': /* text is what was the name of a table here */
        return reader_parse(key, strcmp(argument, "text") == 0 ? "table" : argument, state);
    case KEY_REGIONS:
        set_view(options, REPORT_REGIONS, state);
        return 0;
    case KEY_MARKS:
        set_view(options, REPORT_MARKS, state);
        return 0;
    case KEY_WAITS:
        set_view(options, REPORT_WAITS, state);
        return 0;
    case KEY_STACKS:
        set_view(options, REPORT_TREE, state);
        return 0;
    case KEY_CALLERS:
        set_view(options, REPORT_CALLERS, state);
        options->callers = argument;
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static const struct argp_option table[] = {
    {"by", 'b', "LIST", 0,
     "Rows by function (default), line, library, address, python or python-line (functions and "
     "lines of Python), and by process, thread, cpu or mark: one of the former, any of the latter; "
     "or by region or stack",
     0},
    {"sort", 's', "KEY", 0,
     "Weigh by samples (default; regions: by time) or by an event's name, and sort by that", 0},
    {"event", 'e', NULL, OPTION_ALIAS, NULL, 0},
    {"metric", KEY_METRIC, "LIST", 0,
     "Show metrics of each row, too, such as IPC,branch_mpki or @tma1: 'hr stat --metrics' lists "
     "those of the trace",
     0},
    {"limit", 'n', "N", 0,
     "Show the first N (tables: default 40; 0, the default of the others, shows all)", 0},
    {"min", KEY_MIN, "PERCENT", 0, "Leave out what has a smaller share (trees: default 0.5)", 0},
    {"total", KEY_TOTAL, NULL, 0, "Sort by totals: with what was called", 0},
    {"no-total", KEY_NO_TOTAL, NULL, 0, "Leave call stacks alone, which is faster", 0},
    {"stacks", KEY_STACKS, NULL, 0, "Show who called what as a tree, callers first", 0},
    {"callers", KEY_CALLERS, "FUNCTION", 0, "Show who called FUNCTION as a tree", 0},
    {"regions", KEY_REGIONS, NULL, 0, "Show the regions that the program named", 0},
    {"marks", KEY_MARKS, NULL, 0, "List the program's marks with their times", 0},
    {"waits", KEY_WAITS, NULL, 0, "Show where threads waited, as 'hr noise' does", 0},
    {"format", 'f', "FORMAT", 0, "table (default; also: text), csv or json", 0},
    READER_FOLLOW_OPTIONS,
    {"full-names", KEY_FULL_NAMES, NULL, 0, "Do not shorten functions' names to fit a terminal", 0},
    {"no-pager", KEY_NO_PAGER, NULL, 0, "Do not show long output through $PAGER", 0},
    {0},
};

void report_options_parse(struct report_options *options, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Show where a trace (default hr.bin) spent its samples and events."
               "\vA sample counts for the function that it interrupted, and so does what the "
               "counters rose by since the sample before, unless sampling paused between them. "
               "Where a program has no symbols, functions are called by their addresses "
               "(libx.so+0x1130); without call frame information, too, ranges of 4 KiB take their "
               "place. With call stacks a function's total is what "
               "it and all that it called counted.\n\n"
               "Examples:\n"
               "  hr report                            functions by samples\n"
               "  hr report --sort instructions -n 10  the ten that execute most\n"
               "  hr report --by thread,function       each thread's functions\n"
               "  hr report --by python-line           lines of Python, after hr run --python\n"
               "  hr report --by process               what each process took\n"
               "  hr report --by mark --from 1ms       sections between the program's marks\n"
               "  hr report --stacks --min 2%          who calls what, large branches alone\n"
               "  hr report --callers malloc           who calls malloc\n"
               "  hr report --program ./prog.debug     symbols from an unstripped build\n"
               "  hr report --metric IPC,cache_mpki    each function's, of hr run -e "
               "@IPC,@cache_mpki\n"
               "  hr report --regions --sort cycles    what the program's regions cost\n"
               "  hr report --follow                   while hr run writes hr.bin\n",
    };

    *options = (struct report_options){.min_percent = -1};
    reader_command_line(&options->reader, &argp, argc, argv);
}
