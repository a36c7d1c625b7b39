/* hr plot: pictures for papers. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/output_file.h"
#include "host/base/text.h"
#include "host/memory/map/memory_map_view.h"
#include "host/plot/plot.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/scan/trace_scan.h"
#include "lib/array.h"

static const struct plot_picture {
    const char *name;
    int (*draw)(struct plot_options *options, FILE *out);
    const char *missing; /* why there may be nothing to draw */
} pictures[] = {
    {"timeline", plot_timeline, "no samples"},
    {"intervals", plot_intervals, "no two samples follow each other"},
    {"functions", plot_functions, "no samples"},
    {"calls", plot_calls, "no system calls and no gaps"},
    {"waits", plot_waits, "no stacks of waits; 'hr run --waits -g dwarf' records them"},
    {"latency", plot_latency,
     "no probed function was called; 'hr run --probe FUNCTION' records calls"},
    {"memory", plot_memory,
     "no pages, accesses or allocations; 'hr run --pages 1ms', '--mode pebs' or '--alloc' records "
     "them"},
    {"diff", plot_diff, "one of the traces has no samples"},
};

#define PICTURES_OF_ONE (ARRAY_COUNT(pictures) - 1) /* the last one is of two traces */

struct target { /* what pictures must not replace */
    struct stat trace;
    bool force; /* but for the trace, anything may be replaced */
};

enum { KEY_FORCE = 256, KEY_RANGE, KEY_BLOCK, KEY_DIFF };

static const struct plot_picture *find_picture(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(pictures); i++)
        if (strcmp(pictures[i].name, name) == 0)
            return &pictures[i];
    return NULL;
}

static void check_traces(const struct plot_options *options, const struct argp_state *state)
{
    bool is_diff = options->picture != NULL && options->picture->draw == plot_diff;

    if (is_diff && options->before == NULL)
        argp_error(state, "the picture diff compares two traces: name the one before and the one "
                          "after");
    if (!is_diff && options->event != NULL)
        argp_error(state, "--event is for the picture diff; leave it out");
    if (!is_diff && options->before != NULL)
        argp_error(state,
                   "%s: only the picture diff is of two traces; add --diff, or leave one out",
                   options->reader.path);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'e', OPTION_TEXT, .offset = offsetof(struct plot_options, event)},
        {'o', OPTION_TEXT, .offset = offsetof(struct plot_options, output)},
        {'F', OPTION_TEXT, .offset = offsetof(struct plot_options, function)},
        {KEY_FORCE, OPTION_FLAG, .offset = offsetof(struct plot_options, force)},
        {KEY_BLOCK, OPTION_BYTES, offsetof(struct plot_options, block_bytes), "block",
         "not a size, such as 64 or 4K", 1, 1ull << 40},
        {0},
    };
    struct plot_options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case 'p':
        options->picture = find_picture(argument);
        if (options->picture == NULL)
            argp_error(
                state,
                "--picture %s: choose timeline, intervals, functions, calls, waits, latency, "
                "memory or diff",
                argument);
        return 0;
    case KEY_RANGE:
        memory_map_range(argument, &options->from_address, &options->to_address, state);
        return 0;
    case KEY_DIFF:
        options->picture = find_picture("diff");
        return 0;
    case ARGP_KEY_ARG:
        if (options->reader.path == NULL || options->before != NULL)
            return reader_parse(key, argument, state);
        options->before = options->reader.path;
        options->reader.path = argument;
        return 0;
    case ARGP_KEY_END:
        check_traces(options, state);
        if (options->function != NULL && options->picture == NULL)
            options->picture = find_picture("latency");
        if (options->function != NULL && options->picture->draw != plot_latency)
            argp_error(state, "--function is for the picture latency; leave it out");
        if (options->output == NULL)
            argp_error(state, "name a folder for all pictures or a file: -o plots or -o plot.svg");
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

int plot_open(struct plot_options *options, struct trace_scan *scan)
{
    int error = trace_scan_open(scan, options->reader.path);

    if (error != 0)
        return error;
    scan->symbols = &options->reader.symbols;
    scan->jobs = (unsigned int)options->reader.jobs;
    error = selection_copy(&scan->selection, &options->reader.selection);
    if (error != 0)
        trace_scan_close(scan);
    return error;
}

void plot_close(struct plot_options *options, struct trace_scan *scan)
{
    options->incomplete |= !scan->partial && !trace_audit_complete(&scan->audit);
    trace_scan_close(scan);
}

const char *plot_title(char room[PLOT_TITLE_BYTES], const struct trace_info *info, const char *what)
{
    const char *path = trace_info_text(info, "program.path", "unknown program");
    char safe[PLOT_TITLE_BYTES / 2];

    snprintf(room, PLOT_TITLE_BYTES, "%s: %s%s",
             text_escape(safe, sizeof safe, text_base_name(path)), what,
             (info->sampling.flags & HR_SAMPLING_EMULATED) != 0 ? " (emulated run)" : "");
    return room;
}

/* Writes what was drawn; a picture appears whole or says why not. */
static int write_picture(const char *path, const struct target *target, const char *bytes,
                         size_t count)
{
    const struct output_file_wish wish = {
        .kind = OUTPUT_PICTURE, .force = target->force, .input = &target->trace};
    struct run_failure failure = {0};
    struct output *out = malloc(sizeof *out);
    struct output_file file;
    int error = 0;

    if (out == NULL)
        run_fail(&failure, "out of memory; end other programs");
    else if (output_file_open(&file, path, &wish, &failure) == 0) {
        output_init(out, file.fd);
        output_bytes(out, bytes, count);
        error = output_flush(out);
        if (error != 0 && error != -EPIPE)
            run_fail(&failure, "%s: %s; free some space or write elsewhere", file.name,
                     strerror(-error));
        (void)output_file_finish(&file, error == 0, &failure);
    }
    free(out);
    if (failure.text[0] != 0)
        error_print("%s", failure.text);
    return failure.exit_status == 0 && error == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}

/* HR_EXIT_OK, another status, or -1 when there is nothing to draw. */
static int plot(struct plot_options *options, const struct plot_picture *picture, const char *path,
                const struct target *target)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *memory = open_memstream(&bytes, &count);
    int error = memory != NULL ? picture->draw(options, memory) : -ENOMEM;
    int status;

    if (memory != NULL && fclose(memory) != 0 && error == 0)
        error = -ENOMEM;
    if (error == -ENODATA)
        status = -1;
    else if (error != 0)
        status =
            reader_fail(options->failed != NULL ? options->failed : options->reader.path, error);
    else
        status = write_picture(path, target, bytes, count);
    free(bytes);
    return status;
}

static int say_missing(const struct plot_options *options, const struct plot_picture *picture)
{
    if (options->function != NULL)
        return error_exit(HR_EXIT_FAILED,
                          "%s: no call of a probed function '%s'; 'hr latency' shows what there is",
                          options->reader.path, options->function);
    return error_exit(HR_EXIT_FAILED, "%s: there is nothing to draw for the picture %s: %s",
                      options->reader.path, picture->name, picture->missing);
}

static int plot_all(struct plot_options *options, const char *folder,
                    const struct plot_picture *only, const struct target *target)
{
    char path[4096];
    unsigned drawn = 0;
    int status = HR_EXIT_OK;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_exit(HR_EXIT_FAILED, "%s: %s; name a folder that can be made", folder,
                          strerror(errno));
    for (size_t i = 0; i < ARRAY_COUNT(pictures) && status <= HR_EXIT_OK; i++) {
        if (only != NULL ? only != &pictures[i] : i == PICTURES_OF_ONE)
            continue;
        snprintf(path, sizeof path, "%s/%s.svg", folder, pictures[i].name);
        status = plot(options, &pictures[i], path, target);
        drawn += status == HR_EXIT_OK;
    }
    if (drawn == 0 && only != NULL && status < 0)
        return say_missing(options, only);
    if (status <= HR_EXIT_OK && drawn == 0)
        return error_exit(HR_EXIT_FAILED,
                          "%s: there is nothing to draw, because no sample is selected; 'hr stat "
                          "%s' shows the whole run",
                          options->reader.path, options->reader.path);
    if (status <= HR_EXIT_OK)
        error_print("%u picture%s in the folder %s", drawn, drawn == 1 ? "" : "s", folder);
    return status < 0 ? HR_EXIT_OK : status;
}

static bool is_one_file(const char *path)
{
    size_t bytes = strlen(path);

    return strcmp(path, "-") == 0 || (bytes > 4 && strcmp(path + bytes - 4, ".svg") == 0);
}

/* A name with the extension of another format is not meant to be a folder. */
static bool is_other_format(const char *path)
{
    const char *name = text_base_name(path);
    const char *end = strrchr(name, '.');
    struct stat status;

    if (is_one_file(path) || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return false;
    return end != NULL && end != name && end[1] != 0;
}

static int run(struct plot_options *options)
{
    const struct plot_picture *picture = options->picture;
    struct target target = {.force = options->force};
    int status;

    if (is_other_format(options->output))
        return error_exit(HR_EXIT_FAILED, "%s: pictures are SVG; name a file FILE.svg, or a folder",
                          options->output);
    if (stat(options->reader.path, &target.trace) != 0)
        return reader_fail(options->reader.path, -errno);
    if (options->event != NULL && (reader_event_in(options->before, options->event) != 0 ||
                                   reader_event_in(options->reader.path, options->event) != 0))
        return HR_EXIT_FAILED;
    if (!is_one_file(options->output)) {
        status = plot_all(options, options->output, picture, &target);
    } else {
        picture = picture != NULL ? picture : &pictures[0];
        status = plot(options, picture, options->output, &target);
        if (status < 0)
            status = say_missing(options, picture);
    }
    if (status == HR_EXIT_OK && options->incomplete)
        error_print(
            "%s: incomplete, the pictures show what is there; 'hr check %s' says what is missing",
            options->reader.path, options->reader.path);
    return status;
}

int plot_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"output", 'o', "OUTPUT", 0,
         "A folder for all pictures, a file FILE.svg for one, or - for one to standard output", 0},
        {"force", KEY_FORCE, NULL, 0, "Replace files that are no pictures of hr plot", 0},
        {"picture", 'p', "NAME", 0,
         "Only timeline, intervals, functions, calls, waits, latency, memory or diff", 0},
        {"diff", KEY_DIFF, NULL, 0, "The picture diff: what changed from trace OLD to trace NEW",
         0},
        {"event", 'e', "NAME", 0,
         "In the picture diff, compare this event (default instructions) or samples", 0},
        {"range", KEY_RANGE, "START-END", 0,
         "In the picture memory, these addresses alone, in hexadecimal", 0},
        {"block", KEY_BLOCK, "SIZE", 0, "In the picture memory, each row is so many bytes", 0},
        {"function", 'F', "NAME", 0, "The durations of this probed function alone", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "[FILE]\n--diff OLD NEW",
        .doc =
            "Draw a trace (default hr.bin) as SVG pictures for print."
            "\vtimeline: rates over time of every CPU, with the program's marks.  intervals: how "
            "far apart samples are.  functions: a flame graph where there are call stacks, else "
            "the functions with most samples.  calls: how long system calls and gaps take.  waits: "
            "a flame "
            "graph of where threads waited, and how long (hr run --waits -g dwarf).  latency: how "
            "long probed functions took, and their tails (hr run --probe FUNCTION).  memory: "
            "addresses "
            "over time, of accesses (hr run --mode pebs), pages (hr run --pages) or allocations "
            "(hr run "
            "--alloc).  diff: flame graphs of two traces, red where the second one counts more and "
            "blue where it counts less; bars where there are no call stacks.\n\n"
            "Examples:\n"
            "  hr plot -o plots                           all pictures of hr.bin\n"
            "  hr plot -o rates.svg --from 2ms --to 5ms   three milliseconds of it\n"
            "  hr plot -p functions -o hot.svg run.bin\n"
            "  hr plot --function parse -o parse.svg      how long calls of parse took\n",
    };
    struct plot_options options = {0};
    int status;

    reader_command_line(&options.reader, &argp, argc, argv);
    status = run(&options);
    selection_free(&options.reader.selection);
    return status;
}
