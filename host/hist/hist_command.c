/* hr hist: distributions. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/draw/sparkline.h"
#include "host/hist/hist_print.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"

struct options {
    struct reader reader;
    const char *of[HIST_SUBJECTS_MAX];
    uint32_t of_count;
    struct hist *hist;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    if (key != 'o')
        return reader_parse(key, argument, state);
    if (options->of_count == HIST_SUBJECTS_MAX)
        argp_error(state, "--of %s: %u distributions at most", argument, HIST_SUBJECTS_MAX);
    options->of[options->of_count++] = argument;
    return 0;
}

/* Not before the first data have been reached are all events known. */
static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct hist *hist = context;

    hist_resolve(hist);
    return hist_visitor.chunk(hist, chunk, continues);
}

static int print(const struct hist *hist, enum reader_format format)
{
    struct output *out;

    if (format == READER_TABLE) {
        hist_print(stdout, hist, sparkline_columns());
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (format == READER_CSV ? hist_rows_csv : hist_rows_json)(out, hist);
    return reader_output_close(out);
}

static int present(struct reader *reader)
{
    struct hist *hist = ((struct options *)reader)->hist;
    const struct hist_subject *wrong = hist_resolve(hist);
    uint64_t values = 0;
    int status;

    if (wrong != NULL) {
        char names[TRACE_INFO_NAMES_BYTES];

        return error_exit(
            HR_EXIT_USAGE,
            "--of %s: no such distribution and no event of the trace; choose interval, "
            "cost, lateness, syscall, syscall:NAME, gap%s",
            wrong->name, trace_info_event_names(hist->info, names));
    }
    hist_finish(hist);
    for (uint32_t i = 0; i < hist->subject_count; i++)
        values += hist->subjects[i].values.count;
    if (values == 0 && !selection_is_all(&reader->scan.selection) && hist->gather.costs.count == 0)
        return reader_nothing(&reader->scan, reader->path, hist->gather.time_last);
    status = print(hist, reader->format);
    reader_warn(&reader->scan, reader->path, NULL);
    return status;
}

static int add_subjects(struct hist *hist, const struct options *options)
{
    int error = 0;

    for (uint32_t i = 0; i < options->of_count && error == 0; i++)
        error = hist_add(hist, options->of[i]);
    if (options->of_count == 0)
        error = hist_add(hist, "interval");
    if (error != -EINVAL)
        return error;
    return error_exit(HR_EXIT_USAGE,
                      "--of %s: Linux has no such system call; write one as syscall:read",
                      options->of[hist->subject_count]);
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct trace_visitor visitor = hist_visitor;
    struct hist *hist = options->hist = malloc(sizeof *hist);
    int result = hist != NULL ? hist_init(hist, &reader->scan) : -ENOMEM;

    visitor.context = hist;
    visitor.chunk = take_chunk;
    if (result == 0)
        result = add_subjects(hist, options);
    return result == 0 ? trace_scan_run(&reader->scan, &visitor) : result;
}

static void free_hist(struct reader *reader)
{
    struct hist *hist = ((struct options *)reader)->hist;

    if (hist != NULL)
        hist_free(hist);
    free(hist);
}

int hist_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"of", 'o', "WHAT", 0, "What is distributed (default interval); may be repeated", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_part,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Show distributions with their percentiles (trace: default hr.bin)."
               "\vWHAT is interval (time between samples of a CPU), cost (time to read a sample), "
               "lateness (time from when it was due), syscall (time in a system call; "
               "syscall:NAME: in that one), gap (time in which the program did not run), or an "
               "event (what a sample counted of it).\n\n"
               "Examples:\n"
               "  hr hist                                intervals of hr.bin\n"
               "  hr hist --of cost --of LLC-misses      two distributions\n"
               "  hr hist --of syscall:read --format json run.bin | jq '.[0].p99'\n",
    };
    static const struct reader_command command = {read_trace, present, free_hist};
    struct options options = {0};

    reader_command_line(&options.reader, &argp, argc, argv);
    return reader_run(&options.reader, &command);
}
