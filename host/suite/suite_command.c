/* hr suite: runs the benchmarks of a project, compares them with a baseline, and judges by limits.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/suite/suite_baseline.h"
#include "host/suite/suite_print.h"
#include "host/suite/suite_run.h"

#define RESULTS_DEFAULT "microtome-results"

enum { KEY_TAG = 256, KEY_ONLY, KEY_LINK, KEY_DIR, KEY_GIT };

struct wish { /* what a subcommand was given */
    const char *arguments[3];
    size_t argument_count, argument_max;
    const char *output;
    const char *link;
    suite_printer *print;
    struct suite_selection selection;
    struct suite_store store;
};

static error_t take_more(struct suite_texts *texts, const char *text)
{
    return -array_append_text(&texts->list, &texts->count, text);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct wish *w = state->input;

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
    case KEY_TAG:
        return take_more(&w->selection.tags, argument);
    case KEY_ONLY:
        return take_more(&w->selection.names, argument);
    case KEY_LINK:
        w->link = argument;
        if (argument[strcspn(argument, " ()<>\"\n")] != 0)
            argp_error(state, "--link: an address has none of ( ) < > \" and no blank");
        return 0;
    case KEY_DIR:
        w->store.folder = argument;
        return 0;
    case KEY_GIT:
        w->store.git = true;
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

/* 1 is for limits alone, so all that fails is 2; but a signal stays what it is. */
static int say(const struct run_failure *failure)
{
    return error_exit(failure->exit_status > RUN_EXIT_SIGNAL_BASE ? failure->exit_status
                                                                  : HR_EXIT_USAGE,
                      "%s", failure->text);
}

/* Returns the status, unless what was printed could not be written. */
static int finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return error_exit(HR_EXIT_USAGE, "cannot write to standard output");
}

/* Shows a comparison, and returns its exit status. */
static int conclude(const struct wish *w, const struct suite_results *before,
                    const struct suite_results *after)
{
    struct suite_comparison comparison;
    struct run_failure failure = {0};
    const struct suite_print print = {stdout, &comparison, w->link};
    int status;

    if (suite_compare(&comparison, before, after, &failure) == 0) {
        w->print(&print);
        status = suite_comparison_status(&comparison);
        status = finish_output(status);
    } else {
        status = say(&failure);
    }
    suite_comparison_free(&comparison);
    return status;
}

static int run(struct wish *w)
{
    const char *path = w->argument_count != 0 ? w->arguments[0] : SUITE_FILE_DEFAULT;
    struct suite_results results = {0};
    struct run_failure failure = {0};
    struct suite suite = {0};
    int status;

    if (suite_read(&suite, path, &failure) == 0 &&
        suite_run(&suite, &w->selection, w->output != NULL ? w->output : RESULTS_DEFAULT, &results,
                  &failure) == 0)
        status = conclude(w, NULL, &results);
    else
        status = say(&failure);
    suite_results_free(&results);
    suite_free(&suite);
    return status;
}

static int compare(struct wish *w)
{
    struct suite_results before = {0}, after = {0};
    struct run_failure failure = {0};
    int status;

    if (w->argument_count == 0)
        return error_exit(HR_EXIT_USAGE, "hr suite compare: name a base: a baseline, or a file or "
                                         "folder of results");
    if (suite_baseline_find(w->store.folder, w->arguments[0], &before, &failure) == 0 &&
        suite_results_read(&after, w->argument_count > 1 ? w->arguments[1] : RESULTS_DEFAULT,
                           &failure) == 0)
        status = conclude(w, &before, &after);
    else
        status = say(&failure);
    suite_results_free(&before);
    suite_results_free(&after);
    return status;
}

static int show(struct wish *w)
{
    const char *path = w->argument_count != 0 ? w->arguments[0] : RESULTS_DEFAULT;
    struct run_failure failure = {0};
    struct suite_results results = {0};
    int status;

    status = suite_baseline_find(w->store.folder, path, &results, &failure) == 0
                 ? conclude(w, NULL, &results)
                 : say(&failure);
    suite_results_free(&results);
    return status;
}

/* ---- baselines */

static int save_baseline(struct wish *w)
{
    const char *path = w->argument_count > 2 ? w->arguments[2] : RESULTS_DEFAULT;
    struct run_failure failure = {0};
    struct suite_results results = {0};
    int status = HR_EXIT_OK;

    if (suite_results_read(&results, path, &failure) != 0 ||
        suite_baseline_save(&w->store, w->arguments[1], &results, &failure) != 0)
        status = say(&failure);
    suite_results_free(&results);
    return status;
}

static int list_baselines(struct wish *w)
{
    struct run_failure failure = {0};
    struct suite_texts names = {0};
    int status = HR_EXIT_OK;

    if (suite_baseline_list(&w->store, &names, &failure) != 0)
        status = say(&failure);
    for (size_t i = 0; i < names.count; i++)
        printf("%s\n", names.list[i]);
    suite_texts_free(&names);
    return finish_output(status);
}

static int show_baseline(struct wish *w)
{
    struct run_failure failure = {0};
    struct suite_results results = {0};
    int status;

    if (w->argument_count == 1)
        return list_baselines(w);
    status = suite_baseline_read(&w->store, w->arguments[1], &results, &failure) == 0
                 ? conclude(w, NULL, &results)
                 : say(&failure);
    suite_results_free(&results);
    return status;
}

static int baseline(struct wish *w)
{
    const char *what = w->argument_count != 0 ? w->arguments[0] : "";
    struct run_failure failure = {0};

    if (strcmp(what, "show") == 0)
        return show_baseline(w);
    if (strcmp(what, "save") != 0 && strcmp(what, "prune") != 0)
        return error_exit(HR_EXIT_USAGE, "hr suite baseline: say save, show or prune");
    if (w->argument_count == 1)
        return error_exit(HR_EXIT_USAGE, "hr suite baseline %s: name a baseline", what);
    if (strcmp(what, "save") == 0)
        return save_baseline(w);
    return suite_baseline_prune(&w->store, w->arguments[1], &failure) == 0 ? HR_EXIT_OK
                                                                           : say(&failure);
}

/* ---- subcommands */

#define FORMAT                                                                            \
    {                                                                                     \
        "format", 'f', "FORMAT", 0,                                                       \
            "table (default), markdown, json, junit, tap, bencher or github-benchmark", 0 \
    }
#define LINK                                                                                  \
    {                                                                                         \
        "link", KEY_LINK, "URL", 0, "markdown: a benchmark's page, {} stands for its name", 0 \
    }
#define DIR                                                                              \
    {                                                                                    \
        "dir", KEY_DIR, "DIR", 0, "folder of baselines (default microtome-baselines)", 0 \
    }

static const struct argp_option run_options[] = {
    {"output", 'o', "DIR", 0, "folder for traces and results (default microtome-results)", 0},
    {"tag", KEY_TAG, "TAG", 0, "only benchmarks with this tag; may be repeated", 0},
    {"only", KEY_ONLY, "NAME", 0, "only this benchmark; may be repeated", 0},
    FORMAT,
    LINK,
    {"quiet", 'q', 0, 0, "no line for each benchmark on standard error", 0},
    {0}};
static const struct argp_option compare_options[] = {FORMAT, LINK, DIR, {0}};
static const struct argp_option baseline_options[] = {
    DIR,
    {"git", KEY_GIT, 0, 0, "as refs/microtome/baselines/NAME of this git repository", 0},
    FORMAT,
    {0}};

static const struct subcommand {
    const char *name;
    const struct argp_option *options;
    int (*run)(struct wish *w);
    size_t arguments; /* at most */
    const char *args_doc, *doc;
} subcommands[] = {
    {"run", run_options, run, 1, "[FILE]",
     "Runs the benchmarks of a suite (default microtome.toml) and judges them by the limits that "
     "need no base."},
    {"compare", compare_options, compare, 2, "BASE [NEW]",
     "Compares results (default those of microtome-results) with a baseline, or with other "
     "results, "
     "and judges them by their limits."},
    {"show", compare_options, show, 1, "[RESULTS]", "Shows results."},
    {"baseline", baseline_options, baseline, 3, "save NAME [RESULTS]\nshow [NAME]\nprune NAME",
     "Keeps, shows and removes baselines."},
};

static int run_subcommand(const struct subcommand *s, int argc, char **argv)
{
    const struct argp argp = {
        .options = s->options, .parser = parse, .args_doc = s->args_doc, .doc = s->doc};
    struct wish w = {.argument_max = s->arguments,
                     .print = suite_print_table,
                     .store = {.folder = SUITE_BASELINES_DEFAULT}};
    char name[32];
    int status;

    snprintf(name, sizeof name, "hr suite %s", s->name);
    argv[0] = name;
    command_line_parse(&argp, argc, argv, 0, &w);
    status = s->run(&w);
    suite_texts_free(&w.selection.tags);
    suite_texts_free(&w.selection.names);
    return status;
}

static error_t parse_nothing(int key, char *argument, struct argp_state *state)
{
    char safe[100];

    if (key == ARGP_KEY_ARG)
        argp_error(state, "'%s': choose run, compare, show or baseline",
                   text_escape(safe, sizeof safe, argument));
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "choose run, compare, show or baseline");
    return ARGP_ERR_UNKNOWN;
}

int suite_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_nothing,
        .args_doc = "run [FILE]\ncompare BASE [NEW]\nshow [RESULTS]\nbaseline save|show|prune NAME",
        .doc =
            "Runs the benchmarks that microtome.toml describes, and gates changes by their limits."
            "\vdocs/ci.md shows such a file, and workflows for GitHub and GitLab.\n\n"
            "Exit status: 0: all limits hold; 1: one is exceeded; 2: there is no answer, because a "
            "program failed, an event was not measured, or the base is missing.\n\n"
            "Examples:\n"
            "  hr suite run                          run all, results in microtome-results\n"
            "  hr suite baseline save main           keep them by a name\n"
            "  hr suite run --tag fast -o new        later: run some of them\n"
            "  hr suite compare main new             what changed, in which function\n"
            "  hr suite compare main -f markdown     as a comment of a pull request\n",
    };

    for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return run_subcommand(&subcommands[i], argc - 1, argv + 1);
    command_line_parse(&argp, argc, argv, 0, NULL);
    return HR_EXIT_USAGE;
}
