/* hr annotate: a function's instructions and source lines with what was counted at each. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/annotate/annotate_print.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/base/option.h"
#include "host/base/terminal.h"
#include "host/draw/function_name.h"
#include "host/report/profile.h"
#include "host/scan/object_share.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

#define LISTED_MAX 8u /* of functions with one name */

static const struct place *row_at(const struct profile *profile, uint32_t i)
{
    return &profile->places.all[profile->rows.all[i].place];
}

/* "0x401000", and "[0x401000-0x402000)" as hr report shows code without names. */
static bool parse_address(const char *wanted, uint64_t *address)
{
    bool range = wanted[0] == '[';
    char *end;

    wanted += range;
    if (wanted[0] != '0' || (wanted[1] | 0x20) != 'x')
        return false;
    *address = strtoull(wanted, &end, 16);
    return *end == (range ? '-' : 0);
}

static const struct place *find_address(const struct profile *profile, uint64_t address)
{
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const struct place *row = row_at(profile, i);

        if (address >= row->start && address < row->end)
            return row;
    }
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const struct place *row = row_at(profile, i);

        if (address - trace_spaces_shown(row->start) < row->end - row->start)
            return row; /* of another process */
    }
    error_print(
        "0x%lx: no sample is in the code there; 'hr report' lists the functions that have samples",
        address);
    return NULL;
}

static void report_unknown(const struct profile *profile, const char *wanted)
{
    struct nearest nearest;
    uint32_t names = 0;
    char list[NEAREST_COUNT * (NEAREST_NAME_BYTES + 2)];

    nearest_init(&nearest, wanted);
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const char *name = row_at(profile, i)->name;

        if (name == NULL)
            continue;
        function_offer_nearest(&nearest, name);
        names++;
    }
    if (nearest.count != 0)
        error_print("%s: no sample is in a function of that name; the nearest names: %s", wanted,
                    nearest_list(&nearest, list, sizeof list));
    else if (names != 0)
        error_print("%s: no sample is in a function of that name; 'hr report' lists the functions "
                    "that have samples",
                    wanted);
    else
        error_print("%s: the trace's samples are in no function with a name; name an address, "
                    "0x..., or the program with --program",
                    wanted);
}

static void report_ambiguous(const struct profile *profile, const char *wanted,
                             enum function_match best, uint32_t count)
{
    char list[LISTED_MAX * 200] = "";
    size_t used = 0;
    uint32_t listed = 0;

    for (uint32_t i = 0; i < profile->rows.count && listed < LISTED_MAX; i++) {
        const struct place *row = row_at(profile, i);

        if (function_matches(wanted, row->name, row->object) != best)
            continue;
        used += (size_t)snprintf(
            list + used, sizeof list - used, "%s%.64s@%.64s at 0x%lx", listed++ != 0 ? ", " : "",
            row->name, row->object != NULL ? row->object : "", trace_spaces_shown(row->start));
    }
    error_print(
        "%s: %u functions have that name: %s%s; choose one by FUNCTION@OBJECT or by its address",
        wanted, count, list, count > listed ? ", ..." : "");
}

/* The function of a sorted profile that `wanted` names: FUNCTION, FUNCTION@OBJECT, or an address in
 * it (0x...).  host/draw/function_name.h says what may be left out.  NULL when there is none or
 * more than one: it is reported, with the names that come near or the ones to choose from. */
static const struct place *choose_function(const struct profile *profile, const char *wanted)
{
    enum function_match best = FUNCTION_OTHER;
    const struct place *found = NULL;
    uint32_t count = 0;
    uint64_t address;

    if (parse_address(wanted, &address))
        return find_address(profile, address);
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const struct place *row = row_at(profile, i);
        enum function_match match = function_matches(wanted, row->name, row->object);

        if (match == FUNCTION_OTHER || match < best)
            continue;
        count = match == best ? count + 1 : 1;
        best = match;
        found = row;
    }
    if (count == 0)
        report_unknown(profile, wanted);
    else if (count > 1)
        report_ambiguous(profile, wanted, best, count);
    return count == 1 ? found : NULL;
}

enum { KEY_SOURCE_DIR = 256, KEY_INTEL, KEY_ATT, KEY_METRIC }; /* options without a letter */

struct annotate {
    struct reader reader;
    const char *function;
    const char *event; /* NULL: samples */
    const char *metric; /* a list; NULL: none */
    struct metrics_choice metrics;
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
    static const struct option_field fields[] = {
        {KEY_METRIC, OPTION_TEXT, .offset = offsetof(struct annotate, metric)},
        {'e', OPTION_TEXT, .offset = offsetof(struct annotate, event)},
        {'s', OPTION_FLAG, .offset = offsetof(struct annotate, by_line)},
        {KEY_SOURCE_DIR, OPTION_TEXT, .offset = offsetof(struct annotate, source_dir)},
        {0},
    };
    struct annotate *a = state->input;

    if (option_store(fields, key, argument, a, state))
        return 0;
    switch (key) {
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
        .metrics = &a->metrics,
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

static int choose_metrics(struct annotate *a)
{
    struct run_failure failure = {0};

    if (a->metric == NULL ||
        metrics_choose_of(&a->metrics, &a->reader.scan.info, a->metric, false, &failure) == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "%s", failure.text);
}

/* What the first walk found: HR_EXIT_OK when the function is there. */
static int choose(struct annotate *a)
{
    const struct trace_scan *scan = &a->reader.scan;
    const char *exact = trace_info_exact_problem(&scan->info, &scan->selection);
    int status = find_event(a);

    if (status == HR_EXIT_OK)
        status = choose_metrics(a);
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
    a->row = choose_function(&a->profile, a->function);
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
    const struct trace_visitor visitor = {
        .context = a, .exact = true, .names = true, .samples = count_samples};
    int result = profile_run(&a->profile, &reader->scan, &functions, reader->jobs);

    if (result == 0)
        result = profile_sort(&a->profile, false);
    if (result == 0)
        result = choose(a);
    if (result == 0)
        result = annotate_counts_init(&a->counts, a->row->start, a->row->end,
                                      shown_event(&reader->scan.info, a->weight));
    if (result == 0 && a->metrics.count != 0)
        result = annotate_counts_all(&a->counts);
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
    free(a->metrics.metrics);
}

int annotate_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"event", 'e', "NAME", 0, "Weigh by an event instead of samples", 0},
        {"metric", KEY_METRIC, "LIST", 0, "Show metrics, too, such as IPC,branch_mpki", 0},
        {"limit", 'n', "N", 0, "Show only the N hottest instructions or lines, hottest first", 0},
        {"source", 's', NULL, 0, "Add up by source line", 0},
        {"source-dir", KEY_SOURCE_DIR, "DIR", 0, "Look for source files in DIR first", 0},
        {"intel", KEY_INTEL, NULL, 0, "Intel's syntax (default)", 0},
        {"att", KEY_ATT, NULL, 0, "AT&T's syntax", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
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
