/* hr export: a trace in the format of another tool. */
#include "host/export/common/export.h"
#include "lib/array.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/base/option.h"
#include "host/base/output_file.h"
#include "host/scan/about.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

static const struct export_format *const formats[] = {
    &export_callgrind, &export_csv,      &export_firefox, &export_folded, &export_hrperf,
    &export_perf,      &export_perfetto, &export_pprof,   &export_sqlite,
};

enum { KEY_FORCE = 256, KEY_LIST, KEY_WEIGHT, KEY_RECORD_BYTES, KEY_BIN, KEY_OFF_CPU };

#define DEFAULT_BIN_NS 10000u

static void list_formats(FILE *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        fprintf(out, "%-9s %s\n", formats[i]->name, formats[i]->summary);
}

static const struct export_format *find_format(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* Ends the command. */
static void unknown_format(const char *name, const struct argp_state *state)
{
    size_t least = 3; /* more than two wrong letters are no typing error */
    const char *nearest = NULL;

    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        size_t distance = nearest_distance(name, formats[i]->name);

        if (distance < least) {
            least = distance;
            nearest = formats[i]->name;
        }
    }
    if (nearest != NULL)
        argp_error(state, "%s: unknown format; did you mean '%s'?", name, nearest);
    else
        argp_error(state, "%s: unknown format; 'hr export --list' lists them", name);
}

static uint32_t parse_record_bytes(const char *text, const struct argp_state *state)
{
    static const uint32_t known[] = {EXPORT_HRPERF_BYTES, EXPORT_HRPERF_ALIGNED_BYTES,
                                     EXPORT_HRPERF_PACKED_BYTES};
    char number[16];

    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        snprintf(number, sizeof number, "%u", known[i]);
        if (strcmp(text, number) == 0)
            return known[i];
    }
    argp_error(state, "--record-bytes %s: hiresperf has had records of 52, 56 and 60 bytes", text);
    return 0;
}

/* Refuses an option that the format has no use for. */
static void check_options(const struct export_options *options, const struct argp_state *state)
{
    const struct export_format *format = options->format;

    if (format == NULL)
        argp_error(state, "no format given; 'hr export --list' lists them");
    else if (options->weight != NULL && format != &export_folded)
        argp_error(state, "--weight is for folded; %s holds every event", format->name);
    else if (options->off_cpu && format != &export_folded)
        argp_error(state, "--off-cpu is for folded; %s holds samples", format->name);
    else if (options->off_cpu && options->weight != NULL)
        argp_error(state, "--off-cpu: waits are weighed by their time; leave --weight out");
    else if (options->record_bytes != 0 && format != &export_hrperf)
        argp_error(state, "--record-bytes is for hrperf alone");
    else if (options->bin_ns != 0 && format != &export_perfetto)
        argp_error(state, "--bin is for perfetto; %s holds every sample", format->name);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'o', OPTION_TEXT, .offset = offsetof(struct export_options, output)},
        {KEY_FORCE, OPTION_FLAG, .offset = offsetof(struct export_options, force)},
        {KEY_OFF_CPU, OPTION_FLAG, .offset = offsetof(struct export_options, off_cpu)},
        {KEY_WEIGHT, OPTION_TEXT, .offset = offsetof(struct export_options, weight)},
        {KEY_BIN, OPTION_TIME, .offset = offsetof(struct export_options, bin_ns), "bin",
         "give a time with its unit, such as 10us", .least = 1},
        {0},
    };
    struct export_options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case KEY_RECORD_BYTES:
        options->record_bytes = parse_record_bytes(argument, state);
        return 0;
    case KEY_LIST:
        list_formats(stdout);
        exit(fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED);
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    case ARGP_KEY_ARG:
        if (options->format != NULL)
            return reader_parse(key, argument, state);
        options->format = find_format(argument);
        if (options->format == NULL)
            unknown_format(argument, state);
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static void close_trace(struct export *e)
{
    object_share_free(&e->share);
    functions_free(&e->functions);
    symbols_close(e->symbols);
    trace_scan_close(&e->scan);
    trace_info_free(&e->info);
}

static int open_trace(struct export *e, struct export_options *options)
{
    int error;

    trace_info_init(&e->info);
    error = about_read(&e->info, options->reader.path);
    if (error == 0)
        error = reader_open(&e->scan, &options->reader);
    if (error != 0) {
        trace_info_free(&e->info);
        return error;
    }
    error = symbols_open(&e->symbols, &e->info, e->scan.symbols);
    if (error == 0)
        error = functions_init(&e->functions, e->symbols);
    if (error != 0)
        close_trace(e);
    return error;
}

static void warn(const struct export *e, const char *trace)
{
    object_share_warn(&e->share, &e->info, e->symbols, NULL);
    reader_warn(&e->scan, trace, "the export holds what is there");
}

/* An exit status; what went wrong was reported.  A reader that closed the pipe is nothing wrong. */
static int write_all(struct export *e, const struct export_format *format,
                     const struct output_file *target)
{
    int error;

    output_init(&e->output, target->fd);
    e->file = target->partial;
    error = format->run(e);
    output_flush(&e->output);
    if (e->output.error == -EPIPE)
        return HR_EXIT_FAILED;
    if (e->output.error != 0)
        return error_exit(HR_EXIT_FAILED, "%s: %s; free some space or write elsewhere",
                          target->name, strerror(-e->output.error));
    if (error != 0)
        return reader_fail(e->options->reader.path, error);
    if (e->samples == 0 && e->options->off_cpu)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no stack of a wait is there; 'hr run --waits -g dwarf' records them",
                          e->options->reader.path);
    if (e->samples == 0 && e->followed == 0 && !selection_is_all(&e->scan.selection))
        return error_exit(HR_EXIT_FAILED, "%s: nothing was written, because no sample is selected",
                          e->options->reader.path);
    return HR_EXIT_OK;
}

static int check_exact(const struct export *e, const struct export_format *format)
{
    const char *problem = trace_info_exact_problem(&e->info, &e->scan.selection);

    if (problem != NULL)
        error_print("%s: %s", e->options->reader.path, problem);
    else if (e->info.has_exact && !format->exact)
        error_print(
            "%s: mode exact has counts without times; export it as callgrind, folded or pprof",
            e->options->reader.path);
    else
        return HR_EXIT_OK;
    return HR_EXIT_FAILED;
}

static int choose_weight(struct export *e)
{
    const char *name = e->options->weight;
    char names[TRACE_INFO_NAMES_BYTES];

    e->weight =
        name == NULL || strcmp(name, "samples") == 0 ? -1 : trace_info_find_event(&e->info, name);
    if (e->weight >= 0 || name == NULL || strcmp(name, "samples") == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_USAGE, "--weight %s: the trace has no such event; choose samples%s",
                      name, trace_info_event_names(&e->info, names));
}

/* "run/hr.bin" and "folded" give "run/hr.folded". */
static char *beside(const char *trace, const char *extension)
{
    size_t bytes = strlen(trace);
    char *path;

    if (bytes > 4 && strcmp(trace + bytes - 4, ".bin") == 0 && trace[bytes - 5] != '/')
        bytes -= 4;
    return asprintf(&path, "%.*s.%s", (int)bytes, trace, extension) < 0 ? NULL : path;
}

static int open_target(struct output_file *target, const struct export_options *options,
                       const struct export_format *format, struct run_failure *failure)
{
    struct stat input;
    const struct output_file_wish wish = {
        .kind = OUTPUT_EXPORT,
        .force = options->force,
        .needs_file = format->needs_file,
        .input = stat(options->reader.path, &input) == 0 ? &input : NULL,
        .looks_alike = format->looks_alike,
    };
    char *path = options->output != NULL ? strdup(options->output)
                                         : beside(options->reader.path, format->extension);
    int result = path != NULL ? output_file_open(target, path, &wish, failure)
                              : run_fail(failure, "out of memory; end other programs");

    free(path);
    return result;
}

/* Opens the output, writes it, and lets it stay when it is whole.  An exit status. */
static int write_target(struct export *e, const struct export_format *format)
{
    struct run_failure failure = {0};
    struct output_file target;

    if (open_target(&target, e->options, format, &failure) == 0)
        return reader_output_finish(&target, write_all(e, format, &target), format->name,
                                    format->opener);
    return error_exit(HR_EXIT_FAILED, "%s", failure.text);
}

static int run(struct export_options *options)
{
    struct export *e = calloc(1, sizeof *e);
    int error = e != NULL ? open_trace(e, options) : -ENOMEM;
    int status;

    if (error != 0) {
        free(e);
        return reader_fail(options->reader.path, error);
    }
    e->options = options;
    status = check_exact(e, options->format);
    if (status == HR_EXIT_OK)
        status = choose_weight(e);
    if (status == HR_EXIT_OK)
        status = write_target(e, options->format);
    if (status == HR_EXIT_OK)
        warn(e, options->reader.path);
    close_trace(e);
    free(e);
    return status;
}

int export_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"output", 'o', "FILE", 0,
         "Write to FILE; - is standard output (default: beside the trace)", 0},
        {"force", KEY_FORCE, NULL, 0, "Replace a file that is no export of hr", 0},
        {"weight", KEY_WEIGHT, "EVENT", 0, "Weigh folded stacks by EVENT instead of samples", 0},
        {"off-cpu", KEY_OFF_CPU, NULL, 0,
         "Fold the stacks at which threads waited, weighed by nanoseconds (hr run --waits -g)", 0},
        {"record-bytes", KEY_RECORD_BYTES, "N", 0,
         "Size of hiresperf's records: 60 (default), 56 or 52 in older versions", 0},
        {"bin", KEY_BIN, "TIME", 0, "Average perfetto's rates over TIME (default: 10us)", 0},
        {"list", KEY_LIST, NULL, 0, "List the formats", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "FORMAT [FILE]",
        .doc = "Write a trace (default hr.bin) in the format of another tool."
               "\vThe output appears when it is complete; an export of its name is replaced.\n\n"
               "Examples:\n"
               "  hr export csv                        hr.csv, one row a sample\n"
               "  hr export folded -o - | flamegraph.pl > flames.svg\n"
               "  hr export folded --weight cache-misses --thread 1001\n"
               "  hr export folded --off-cpu           where threads waited, and how long\n",
    };
    struct export_options options = {0};
    int status;

    reader_command_line(&options.reader, &argp, argc, argv);
    if (options.record_bytes == 0)
        options.record_bytes = EXPORT_HRPERF_BYTES;
    if (options.bin_ns == 0)
        options.bin_ns = DEFAULT_BIN_NS;
    status = run(&options);
    selection_free(&options.reader.selection); /* the scan has it, unless that did not open */
    return status;
}
