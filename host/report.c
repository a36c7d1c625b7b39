/* hr report: the functions, regions or marks of a trace. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/profile.h"
#include "host/reader.h"
#include "host/report_marks.h"
#include "host/report_print.h"
#include "host/report_regions.h"
#include "host/text.h"
#include "host/trace_scan.h"

#define DEFAULT_LIMIT 40 /* of functions */
#define LIMIT_UNSET ULONG_MAX

enum report_view { REPORT_FUNCTIONS, REPORT_REGIONS, REPORT_MARKS };

enum { KEY_REGIONS = 256, KEY_MARKS }; /* options without a letter */

struct report_options {
    const char *path;
    const char *sort; /* NULL: samples of functions, time of regions */
    struct selection selection;
    struct symbols_options symbols;
    enum report_view view;
    unsigned long limit; /* 0: all */
};

struct report {
    struct trace_scan scan;
    struct profile profile;
    struct report_marks marks;
    struct symbols *symbols; /* opened when first needed: the maps come before the samples */
    const struct symbols_options *symbols_options;
    uint64_t mark_count;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct report_options *options = state->input;
    enum report_view view;
    char *end;

    switch (key) {
    case 's':
        options->sort = argument;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->selection;
        state->child_inputs[1] = &options->symbols;
        return 0;
    case KEY_REGIONS:
    case KEY_MARKS:
        view = key == KEY_REGIONS ? REPORT_REGIONS : REPORT_MARKS;
        if (options->view != REPORT_FUNCTIONS && options->view != view)
            argp_error(state, "--regions and --marks are two reports; ask for one at a time");
        options->view = view;
        return 0;
    case ARGP_KEY_END:
        if (options->view == REPORT_MARKS && options->sort != NULL)
            argp_error(state, "--sort %s: marks are in the order of time; leave it out",
                       options->sort);
        return 0;
    case 'n':
        errno = 0;
        options->limit = strtoul(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end != 0 || errno != 0)
            argp_error(state, "--limit %s: not a number; 0 shows all", argument);
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

static int fold(struct report *r)
{
    int error = 0;

    if (r->symbols == NULL)
        error = symbols_open(&r->symbols, &r->scan.info, r->symbols_options);
    else
        error = symbols_update(r->symbols, &r->scan.info);
    if (error == 0)
        profile_fold(&r->profile, r->symbols);
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct report *r = context;
    int error = profile_full(&r->profile) ? fold(r) : 0;

    if (error == 0)
        profile_add(&r->profile, samples);
    return error;
}

static int count_marks(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct report *r = context;

    r->mark_count += record->type == HR_REC_MARK && chunk->header.type == HR_CHUNK_DATA;
    return 0;
}

static int take_mark(void *context, const struct trace_chunk *chunk,
                     const struct trace_record *record)
{
    struct report *r = context;

    if (record->type != HR_REC_MARK || chunk->header.type != HR_CHUNK_DATA)
        return 0;
    return report_marks_take(&r->marks, chunk->header.cpu, record);
}

/* The event to sort by: its number, -1 for samples or time, -2 when there is none of that name. */
static int find_event(const struct trace_info *info, const char *name, const char *otherwise)
{
    int event;

    if (name == NULL || strcmp(name, otherwise) == 0)
        return -1;
    event = trace_info_find_event(info, name);
    return event >= 0 ? event : -2;
}

static int unknown_event(const struct trace_info *info, const char *name, const char *otherwise)
{
    char names[TRACE_INFO_NAMES_BYTES];

    error_print("--sort %s: the trace has no such event; choose %s%s", name, otherwise,
                trace_info_event_names(info, names));
    return HR_EXIT_USAGE;
}

static void warn(const struct report *r, const char *path)
{
    const struct trace_audit *audit = &r->scan.audit;
    const char *file, *problem;

    for (size_t i = 0;
         r->symbols != NULL && (problem = symbols_problem(r->symbols, i, &file)) != NULL; i++)
        error_print("%s: %s", file, problem);
    if (!r->scan.partial && !trace_audit_complete(audit))
        error_print("%s: incomplete, the report covers what is there; 'hr check %s' says what is "
                    "missing",
                    path, path);
}

/* What else the program left in the trace, under the table of functions. */
static void print_pointers(const struct report *r, const char *path)
{
    char number[TEXT_QUANTITY_BYTES], safe[4096];
    size_t regions = r->scan.info.regions.count;

    text_escape(safe, sizeof safe, path);
    if (regions != 0)
        printf("# %s region%s: hr report --regions %s\n", text_count(number, regions),
               regions != 1 ? "s" : "", safe);
    if (r->mark_count != 0)
        printf("# %s mark%s: hr report --marks %s\n", text_count(number, r->mark_count),
               r->mark_count != 1 ? "s" : "", safe);
}

static int present(struct report *r, const struct report_options *options)
{
    struct trace_info *info = &r->scan.info;
    const char *otherwise = options->view == REPORT_REGIONS ? "time" : "samples";
    int event = find_event(info, options->sort, otherwise);

    if (event == -2)
        return unknown_event(info, options->sort, otherwise);
    if (options->view == REPORT_REGIONS) {
        report_regions_print(stdout, info, event < 0 ? TRACE_REGION_TIME : (uint32_t)event,
                             options->limit);
    } else if (options->view == REPORT_MARKS) {
        report_marks_print(stdout, info, &r->marks, options->limit);
    } else {
        profile_sort(&r->profile, event);
        report_print(stdout, &r->scan, &r->profile, event, options->limit);
        print_pointers(r, options->path);
    }
    warn(r, options->path);
    return HR_EXIT_OK;
}

static int walk(struct report *r, enum report_view view)
{
    struct trace_visitor visitor = {.context = r};
    int error;

    if (view == REPORT_MARKS)
        visitor.record = take_mark;
    if (view != REPORT_FUNCTIONS)
        return trace_scan_run(&r->scan, &visitor);
    visitor.samples = take_samples;
    visitor.record = count_marks;
    error = profile_init(&r->profile);
    if (error == 0)
        error = trace_scan_run(&r->scan, &visitor);
    return error == 0 ? fold(r) : error;
}

static int run(const struct report_options *options)
{
    struct report r = {.symbols_options = &options->symbols};
    int status = HR_EXIT_FAILED;
    int error = trace_scan_open(&r.scan, options->path);

    if (error == 0) {
        r.scan.selection = options->selection; /* the scan frees it */
        error = walk(&r, options->view);
        if (error == 0)
            status = present(&r, options);
        symbols_close(r.symbols);
        profile_free(&r.profile);
        report_marks_free(&r.marks);
        trace_scan_close(&r.scan);
    }
    return error == 0 ? status : reader_fail(options->path, error);
}

int report_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"sort", 's', "KEY", 0, "Sort by samples (default; regions: by time) or by an event's name",
         0},
        {"limit", 'n', "N", 0,
         "Show the first N (functions: default 40; 0, the default of the others, shows all)", 0},
        {"regions", KEY_REGIONS, NULL, 0, "Show the regions that the program named", 0},
        {"marks", KEY_MARKS, NULL, 0, "List the program's marks with their times", 0},
        {0},
    };
    static const struct argp_child children[] = {
        {&selection_argp, 0, NULL, 0}, {&symbols_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .children = children,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Show the functions of a trace (default hr.bin) by samples and by events."
               "\vA sample counts for the function that it interrupted, and so does what the "
               "counters rose by since the sample before, unless sampling paused between them. "
               "Where a program has no symbols, ranges "
               "of 4 KiB take the place of functions.\n\n"
               "Examples:\n"
               "  hr report                            functions by samples\n"
               "  hr report --sort instructions -n 10  the ten that execute most\n"
               "  hr report --program ./prog.debug     symbols from an unstripped build\n"
               "  hr report --regions --sort cycles    what the program's regions cost\n",
    };
    struct report_options options = {.limit = LIMIT_UNSET};

    selection_init(&options.selection);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.limit == LIMIT_UNSET)
        options.limit = options.view == REPORT_FUNCTIONS ? DEFAULT_LIMIT : 0;
    options.path = reader_file(options.path);
    return run(&options);
}
