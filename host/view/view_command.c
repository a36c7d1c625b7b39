/* hr view: a trace as one page for a browser. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/output_file.h"
#include "host/diff/diff_tree.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/view/html/view_diff.h"
#include "host/view/html/view_page.h"
#include "host/view/server/view_open.h"
#include "host/view/server/view_serve.h"

struct view_options {
    struct reader reader;
    const char *output; /* NULL: in the trace's folder */
    bool force;
    bool open; /* in a browser */
    bool serve;
    uint64_t port; /* 0: any */
    const char *before; /* with --diff: the trace to compare with */
    const char *event; /* and what is compared; NULL: instructions, else samples */
    bool diff;
};

enum { KEY_FORCE = 256, KEY_OPEN, KEY_SERVE, KEY_PORT, KEY_DIFF };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'e', OPTION_TEXT, .offset = offsetof(struct view_options, event)},
        {'o', OPTION_TEXT, .offset = offsetof(struct view_options, output)},
        {KEY_FORCE, OPTION_FLAG, .offset = offsetof(struct view_options, force)},
        {KEY_OPEN, OPTION_FLAG, .offset = offsetof(struct view_options, open)},
        {KEY_DIFF, OPTION_FLAG, .offset = offsetof(struct view_options, diff)},
        {KEY_SERVE, OPTION_FLAG, .offset = offsetof(struct view_options, serve)},
        {KEY_PORT, OPTION_NUMBER, .offset = offsetof(struct view_options, port), "port",
         "not a port; 1 to 65535", 1, UINT16_MAX},
        {0},
    };
    struct view_options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case ARGP_KEY_ARG:
        if (options->reader.path == NULL || options->before != NULL || !options->diff)
            return reader_parse(key, argument, state);
        options->before = options->reader.path;
        options->reader.path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->diff && options->before == NULL)
            argp_error(state, "--diff compares two traces: name the one before and the one after");
        if (options->event != NULL && !options->diff)
            argp_error(state, "--event works only with --diff; the page has all events");
        if (options->diff && options->serve)
            argp_error(state, "--serve shows one trace; leave out --diff");
        if (options->port != 0 && !options->serve)
            argp_error(state, "--port works only with --serve; leave it out");
        if (options->output != NULL && options->serve)
            argp_error(state, "--serve writes no page; leave out --output");
        if (options->open && options->output != NULL && strcmp(options->output, "-") == 0)
            argp_error(state, "--open needs a file; leave out --output -");
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

/* hr.bin becomes hr.html, or hr-diff.html; anything else gets that at its end. */
static void default_output(const char *trace, bool diff, char path[PATH_MAX])
{
    size_t bytes = strlen(trace);

    if (bytes > 4 && strcmp(trace + bytes - 4, ".bin") == 0)
        bytes -= 4;
    snprintf(path, PATH_MAX, "%.*s%s.html", (int)bytes, trace, diff ? "-diff" : "");
}

static void warn(const struct view_model *model, const struct view_options *options)
{
    object_share_warn(&model->share, &model->scan.info, model->symbols, NULL);
    reader_warn(&model->scan, options->reader.path, "the page shows what is there");
    if (model->calls.refused != 0)
        error_print("%s: %lu calls or requests are left out of the page: there are too many",
                    options->reader.path, model->calls.refused);
    if (model->sample_count == 0 && model->calls.count == 0)
        error_print("%s: no samples; the page shows the run's facts only", options->reader.path);
}

static int open_output(struct output_file *file, const struct view_options *options,
                       const char *path)
{
    struct run_failure failure = {0};
    struct stat input;
    const struct output_file_wish wish = {
        .kind = OUTPUT_PAGE,
        .force = options->force,
        .input = stat(options->reader.path, &input) == 0 ? &input : NULL,
    };

    if (output_file_open(file, path, &wish, &failure) == 0)
        return 0;
    error_print("%s", failure.text);
    return -1;
}

struct page { /* what is written: the page of a trace, or of a difference */
    struct view_model *model;
    json_t *facts; /* taken over */
    const struct diff_tree *diff; /* NULL: of a trace */
};

/* A page appears whole or says why not. */
static int write_page(const struct page *page, const struct view_options *options, const char *path)
{
    struct output_file file;
    struct output *out = malloc(sizeof *out);
    int error, failed, status = HR_EXIT_FAILED;

    if (out == NULL)
        error_print("out of memory; end other programs");
    if (out == NULL || open_output(&file, options, path) != 0) {
        json_decref(page->facts);
        free(out);
        return status;
    }
    output_init(out, file.fd);
    error = page->diff != NULL ? view_diff_write(out, page->diff)
                               : view_page_write(out, page->model, page->facts);
    failed = output_flush(out);
    free(out);
    if (failed != 0 && failed != -EPIPE)
        error_print("%s: %s; free some space or write elsewhere", file.name, strerror(-failed));
    else if (error != 0)
        reader_fail(options->reader.path, error);
    else if (failed == 0)
        status = HR_EXIT_OK;
    return reader_output_finish(&file, status, "a page of hr view",
                                "any browser ('hr view --open' starts it)");
}

static int present_diff(const struct view_options *options, const struct diff_tree *tree)
{
    const struct page page = {.diff = tree};
    char path[PATH_MAX];
    const char *output = options->output != NULL ? options->output : path;
    int status;

    default_output(options->reader.path, true, path);
    status = write_page(&page, options, output);
    for (int i = 0; i < 2; i++)
        if (tree->incomplete[i])
            error_print("%s is incomplete; the page shows what is there",
                        i == 0 ? options->before : options->reader.path);
    if (status == HR_EXIT_OK && options->open && view_open_file(output) != 0)
        status = HR_EXIT_FAILED;
    return status;
}

static int run_diff(const struct view_options *options)
{
    const char *const paths[2] = {options->before, options->reader.path};
    struct diff_tree tree;
    int failed = 0, status, error;

    if (reader_event_in(paths[0], options->event) != 0 ||
        reader_event_in(paths[1], options->event) != 0)
        return HR_EXIT_FAILED;
    error = diff_tree_read(&tree, paths, &options->reader.selection, &options->reader.symbols,
                           options->event, &failed);
    if (error == 0)
        status = present_diff(options, &tree);
    else if (error == -ENODATA)
        status = error_exit(HR_EXIT_FAILED, "%s: there are no samples to compare", paths[failed]);
    else
        status = reader_fail(paths[failed < 2 ? failed : 1], error);
    diff_tree_free(&tree);
    return status;
}

static bool nothing_selected(const struct view_model *model)
{
    return model->sample_count == 0 && model->calls.count == 0 &&
           !selection_is_all(&model->scan.selection);
}

static void warn_served(const struct view_model *model, const void *context)
{
    warn(model, context);
}

static int serve(struct view_live *live, const struct view_options *options, json_t *facts)
{
    const struct view_serve_wish wish = {.port = (uint16_t)options->port,
                                         .open = options->open,
                                         .warn = warn_served,
                                         .context = options};

    return view_serve(live, &wish, facts);
}

/* `live` is used with --serve. */
static int present(struct view_model *model, const struct view_options *options,
                   struct view_live *live, json_t *facts)
{
    const struct page page = {.model = model, .facts = facts};
    char path[PATH_MAX];
    const char *output;
    json_t *summary = json_object_get(facts, "summary");
    int status;

    if (model->exact) {
        const char *problem = trace_info_exact_problem(&model->scan.info, &model->scan.selection);

        if (problem != NULL) {
            error_print("%s: %s", options->reader.path, problem);
            json_decref(facts);
            return HR_EXIT_FAILED;
        }
    }
    if (!live->growing && nothing_selected(model)) {
        status = reader_nothing_selected(
            options->reader.path,
            (uint64_t)json_integer_value(json_object_get(summary, "duration_ns")));
        json_decref(facts);
        return status;
    }
    if (options->serve)
        return serve(live, options, facts);
    default_output(options->reader.path, false, path);
    output = options->output != NULL ? options->output : path;
    status = write_page(&page, options, output);
    warn(model, options);
    if (status == HR_EXIT_OK && options->open && view_open_file(output) != 0)
        status = HR_EXIT_FAILED;
    return status;
}

static int run(struct view_options *options)
{
    struct view_model *model;
    struct view_live live = {.fd = -1, .page_fd = -1};
    json_t *facts = NULL;
    int error, status;

    if (!view_page_is_built())
        return error_exit(
            HR_EXIT_FAILED,
            "this hr was built without the libraries of the page; 'tools/setup.sh page' "
            "and 'make page all' get them and build them in");
    if (options->diff)
        return run_diff(options);
    model = calloc(1, sizeof *model);
    error = model != NULL ? 0 : -ENOMEM;
    if (error == 0 && options->serve)
        error = view_live_open(&live, &options->reader, model);
    if (error == 0)
        error = view_page_read(&options->reader, model, &facts);
    if (error == 0) {
        status = present(model, options, &live, facts);
    } else {
        json_decref(facts);
        status = reader_fail(options->reader.path, error);
    }
    view_live_close(&live);
    if (model != NULL)
        view_model_free(model);
    free(model);
    return status;
}

int view_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"output", 'o', "FILE", 0,
         "Write the page to FILE, - for standard output (default: beside the trace, .html)", 0},
        {"force", KEY_FORCE, NULL, 0, "Write over a file that is no page of hr view", 0},
        {"open", KEY_OPEN, NULL, 0, "Open the page in the browser (xdg-open)", 0},
        {"diff", KEY_DIFF, NULL, 0,
         "What changed from trace OLD to trace NEW, as a flame graph and a table", 0},
        {"event", 'e', "NAME", 0,
         "With --diff: compare this event (default instructions) or samples", 0},
        {"serve", KEY_SERVE, NULL, 0,
         "Serve the page to this machine's browsers, with every sample of a large trace", 0},
        {"port", KEY_PORT, "N", 0, "Listen on port N of 127.0.0.1 and ::1 (default: any)", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_symbols,
        .parser = parse,
        .args_doc = "[FILE]\n--diff OLD NEW",
        .doc = "Write a trace (default hr.bin) as one HTML page for a browser."
               "\vThe page needs no network and no other file. It shows what every CPU did over "
               "time, the functions of whatever is selected there, how the samples spread, and how "
               "good the sampling was.\n\n"
               "Examples:\n"
               "  hr view                              hr.html beside hr.bin\n"
               "  hr view -o /tmp/page.html run.bin    somewhere else\n"
               "  hr view --from 1s --to 2s            one second of it, in finer detail\n"
               "  hr view --serve big.bin              all of it; open the address that is shown\n"
               "  hr view --diff before.bin after.bin  what changed\n"
               "  hr view --diff -e cache-misses before.bin after.bin\n",
    };
    struct view_options options = {0};
    int status;

    reader_command_line(&options.reader, &argp, argc, argv);
    status = run(&options);
    selection_free(&options.reader.selection); /* the scan has it, unless that did not open */
    return status;
}
