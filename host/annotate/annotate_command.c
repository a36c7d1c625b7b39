/* hr annotate: a function's instructions and source lines with what was counted at each. */
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/annotate/annotate_choose.h"
#include "host/annotate/annotate_print.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/terminal.h"
#include "host/report/profile.h"
#include "host/scan/object_share.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

enum { KEY_SOURCE_DIR = 256, KEY_INTEL, KEY_ATT }; /* options without a letter */

struct annotate {
    struct reader reader;
    const char *function;
    const char *event; /* NULL: samples */
    const char *source_dir;
    enum annotate_syntax syntax;
    bool by_line;
    struct profile profile;
    struct annotate_counts counts;
    struct object_share share; /* of the second walk: all matter when it found no function */
    const struct place *row; /* of the function */
    int weight; /* the event, -1: samples */
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct annotate *a = state->input;

    switch (key) {
    case 'e':
        a->event = argument;
        return 0;
    case 's':
        a->by_line = true;
        return 0;
    case KEY_SOURCE_DIR:
        a->source_dir = argument;
        return 0;
    case KEY_INTEL:
        a->syntax = ANNOTATE_INTEL;
        return 0;
    case KEY_ATT:
        a->syntax = ANNOTATE_ATT;
        return 0;
    case ARGP_KEY_ARG:
        if (a->function != NULL)
            return reader_parse(key, argument, state);
        a->function = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a function; 'hr report' lists those that have samples");
        return EINVAL;
    default:
        return reader_parse(key, argument, state);
    }
}

static int count_samples(void *context, const struct trace_samples *samples)
{
    struct annotate *a = context;

    annotate_counts_add(&a->counts, samples);
    object_share_add(&a->share, &a->reader.scan.info, samples);
    return 0;
}

static void warn(const struct annotate *a)
{
    object_share_warn(&a->share, &a->reader.scan.info, a->profile.symbols, NULL);
    reader_warn(&a->reader.scan, a->reader.path, "what is there is shown");
}

/* The program that ran is found by its build-id; its source is not. */
static void warn_of_sources(const struct annotate_source *source)
{
    for (size_t i = 0; i < source->file_count; i++)
        if (source->files[i].newer)
            error_print("%s is newer than the trace, so its lines may not be those that ran; name "
                        "the folder of the old source with --source-dir",
                        source->files[i].name);
}

static int print(const struct annotate *a)
{
    const struct trace_scan *scan = &a->reader.scan;
    const struct place *row = a->row;
    struct annotate_source source;
    struct annotate_code code;
    struct stat status;
    bool terminal = isatty(STDOUT_FILENO);
    struct annotate_view view = {
        .function = row->name,
        .object = row->object,
        .info = &scan->info,
        .counts = &a->counts,
        .code = &code,
        .symbols = a->profile.symbols,
        .source = &source,
        .function_bytes = row->end - row->start,
        .all_samples = a->profile.all.samples,
        .all_sum = a->weight >= 0 ? a->profile.all.sums[a->weight] : 0,
        .weight = a->weight,
        .limit = reader_limit(&a->reader, 0),
        .columns = terminal ? terminal_columns(STDOUT_FILENO, 80) : 0,
        .colours = terminal_colours(STDOUT_FILENO),
    };
    int error = annotate_code_read(&code, &a->counts, &scan->info, &a->reader.symbols, a->syntax);

    if (error != 0)
        return error;
    annotate_source_init(&source, a->source_dir);
    if (fstat(scan->file.fd, &status) == 0 && S_ISREG(status.st_mode))
        source.recorded = status.st_mtim;
    error = a->by_line ? annotate_print_lines(stdout, &view) : annotate_print_code(stdout, &view);
    warn_of_sources(&source);
    annotate_source_free(&source);
    annotate_code_free(&code);
    return error;
}

/* The event that is shown with the samples: the one asked for, else instructions, else the first.
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

/* The event of --event.  HR_EXIT_OK, or an exit status when there is none of that name. */
static int find_event(struct annotate *a)
{
    const struct trace_info *info = &a->reader.scan.info;
    char names[TRACE_INFO_NAMES_BYTES];

    a->weight = a->event != NULL && strcmp(a->event, "samples") != 0
                    ? trace_info_find_event(info, a->event)
                    : -1;
    if (a->weight >= 0 || a->event == NULL || strcmp(a->event, "samples") == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_USAGE, "--event %s: the trace has no such event; choose samples%s",
                      a->event, trace_info_event_names(info, names));
}

/* What the first walk found: HR_EXIT_OK when the function is there. */
static int choose(struct annotate *a)
{
    const struct trace_scan *scan = &a->reader.scan;
    const char *exact = trace_info_exact_problem(&scan->info, &scan->selection);
    int status = find_event(a);

    if (status != HR_EXIT_OK)
        return status;
    if (exact != NULL)
        return error_exit(HR_EXIT_FAILED, "%s: %s", a->reader.path, exact);
    if (a->profile.all.samples == 0) {
        if (selection_is_all(&scan->selection))
            return reader_nothing(scan, a->reader.path, 0);
        return error_exit(HR_EXIT_FAILED,
                          "%s: no selected sample is in its code; 'hr report' lists the functions "
                          "that have samples",
                          a->reader.path);
    }
    a->row = annotate_choose(&a->profile, a->function);
    if (a->row != NULL) {
        a->share.wanted = a->row->object;
        return HR_EXIT_OK;
    }
    warn(a);
    return HR_EXIT_USAGE;
}

/* The first walk finds the functions that have samples, the second one counts in one of them. */
static int read_trace(struct reader *reader)
{
    static const struct profile_options functions = {.by = PLACE_FUNCTION};
    struct annotate *a = (struct annotate *)reader;
    const struct trace_visitor visitor = {.context = a, .exact = true, .samples = count_samples};
    int result = profile_run(&a->profile, &reader->scan, &functions, reader->jobs);

    if (result == 0)
        result = profile_sort(&a->profile, false);
    if (result == 0)
        result = choose(a);
    if (result == 0)
        result = annotate_counts_init(&a->counts, a->row->start, a->row->end,
                                      shown_event(&reader->scan.info, a->weight));
    if (result == 0)
        result = trace_scan_rewind(&reader->scan);
    return result == 0 ? trace_scan_run(&reader->scan, &visitor) : result;
}

static int present(struct reader *reader)
{
    int error = print((struct annotate *)reader);

    if (error != 0)
        return reader_fail(reader->path, error);
    warn((struct annotate *)reader);
    return HR_EXIT_OK;
}

static void free_annotate(struct reader *reader)
{
    struct annotate *a = (struct annotate *)reader;

    object_share_free(&a->share);
    profile_free(&a->profile);
    annotate_counts_free(&a->counts);
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
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols_jobs,
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
    static const struct reader_command command = {read_trace, present, free_annotate};
    struct annotate annotate = {.syntax = ANNOTATE_INTEL};

    reader_command_line(&annotate.reader, &argp, argc, argv);
    return reader_run(&annotate.reader, &command);
}
