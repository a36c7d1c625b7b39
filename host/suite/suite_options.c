/* Parses the options of hr suite. */
#include "host/suite/suite_options.h"

#include <stdint.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/option.h"

enum {
    KEY_TAG = 256,
    KEY_ONLY,
    KEY_LINK,
    KEY_DIR,
    KEY_GIT,
    KEY_REPEAT,
    KEY_WARM_UP,
    KEY_PAGES,
    KEY_RESUME
};

static error_t take_more(struct suite_texts *texts, const char *text)
{
    return -array_append_text(&texts->list, &texts->count, text);
}

static void parse_runs(const char *name, const char *argument, uint64_t least, uint64_t *runs,
                       const struct argp_state *state)
{
    if (option_number(argument, least, SUITE_REPEAT_MAX, runs) != 0)
        argp_error(state, "--%s %s: give a number from %u to %u", name, argument,
                   (unsigned int)least, SUITE_REPEAT_MAX);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct suite_wish *w = state->input;

    switch (key) {
    case 'o':
        w->output = argument;
        return 0;
    case 'q':
        w->selection.quiet = true;
        return 0;
    case 'f':
        w->print = suite_print_find(argument);
        if (w->print == NULL)
            argp_error(state, "--format %s: choose %s", argument, suite_print_formats);
        return 0;
    case KEY_RESUME:
        w->selection.resume = true;
        return 0;
    case KEY_TAG:
        return take_more(&w->selection.tags, argument);
    case KEY_ONLY:
        return take_more(&w->selection.names, argument);
    case KEY_REPEAT:
        parse_runs("repeat", argument, 1, &w->selection.repeat, state);
        return 0;
    case KEY_WARM_UP:
        parse_runs("warmup", argument, 0, &w->selection.warm_up, state);
        return 0;
    case KEY_LINK:
    case KEY_PAGES:
        *(key == KEY_LINK ? &w->link : &w->pages) = argument;
        if (argument[strcspn(argument, " ()<>\"\n")] != 0)
            argp_error(state, "%s: an address has none of ( ) < > \" and no blank", argument);
        return 0;
    case KEY_DIR:
        w->store.folder = argument;
        return 0;
    case KEY_GIT:
        w->store.git = true;
        return 0;
    case ARGP_KEY_INIT:
        if (state->child_inputs != NULL)
            state->child_inputs[0] = &w->selection.where;
        return 0;
    case ARGP_KEY_ARG:
        if (w->argument_count == w->argument_max)
            return ARGP_ERR_UNKNOWN;
        w->arguments[w->argument_count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define FORMAT                                                                            \
    {                                                                                     \
        "format", 'f', "FORMAT", 0,                                                       \
            "table (default), markdown, json, junit, tap, bencher or github-benchmark", 0 \
    }
#define LINK                                                                                  \
    {                                                                                         \
        "link", KEY_LINK, "URL", 0, "markdown: a benchmark's page, {} stands for its name", 0 \
    }
#define PAGES                                                                                      \
    {                                                                                              \
        "pages", KEY_PAGES, "DIR", 0,                                                              \
            "write the page of hr view of each benchmark (of those that changed; with the base's " \
            "traces also what changed) to DIR; markdown links there",                              \
            0                                                                                      \
    }
#define DIR                                                                              \
    {                                                                                    \
        "dir", KEY_DIR, "DIR", 0, "folder of baselines (default microtome-baselines)", 0 \
    }

const struct argp_option suite_options_run[] = {
    {"output", 'o', "DIR", 0, "folder for traces and results (default microtome-results)", 0},
    {"tag", KEY_TAG, "TAG", 0, "only benchmarks with this tag; may be repeated", 0},
    {"only", KEY_ONLY, "NAME", 0, "only this benchmark; may be repeated", 0},
    {"repeat", KEY_REPEAT, "N", 0,
     "run each benchmark N times (default: what the suite says; else once in virtual time, where "
     "more runs must count the same, and 10 times elsewhere)",
     0},
    {"resume", KEY_RESUME, 0, 0, "on other machines: take the runs that the folder has already", 0},
    {"warmup", KEY_WARM_UP, "N", 0, "run each N times before, uncounted", 0},
    FORMAT,
    LINK,
    PAGES,
    {"quiet", 'q', 0, 0, "no line for each benchmark on standard error", 0},
    {0}};
const struct argp_option suite_options_compare[] = {FORMAT, LINK, PAGES, DIR, {0}};
const struct argp_option suite_options_baseline[] = {
    DIR,
    {"git", KEY_GIT, 0, 0, "as refs/microtome/baselines/NAME of this git repository", 0},
    FORMAT,
    {0}};

void suite_options_parse(struct suite_wish *w, struct argp argp, bool remote, int argc, char **argv)
{
    static const struct argp_child children[] = {{&remote_where_argp, 0, NULL, 1}, {0}};

    argp.parser = parse;
    argp.children = remote ? children : NULL;
    command_line_parse(&argp, argc, argv, 0, w);
}

void suite_options_free(struct suite_wish *w)
{
    suite_texts_free(&w->selection.tags);
    suite_texts_free(&w->selection.names);
    remote_where_free(&w->selection.where);
}
