/* hr suite: runs the benchmarks of a project, compares them with a baseline, and judges by limits.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/suite/suite_options.h"
#include "host/suite/suite_pages.h"
#include "host/suite/suite_task.h"

#define RESULTS_DEFAULT "microtome-results"

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

/* Results in a folder have their traces there. */
static const char *folder_of(const char *path)
{
    struct stat status;

    return path != NULL && stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? path : NULL;
}

/* Writes the pages of a comparison, unless none are wanted. */
static int write_pages(const struct suite_wish *w, const char *before, const char *after,
                       struct suite_comparison *comparison, struct run_failure *failure)
{
    const struct suite_pages pages = {w->pages, folder_of(before), folder_of(after)};

    if (w->pages == NULL)
        return 0;
    if (pages.after == NULL)
        return run_fail(failure, "--pages: '%s' has no traces; name the folder of the results",
                        after);
    return suite_pages_write(&pages, comparison, failure);
}

/* Shows a comparison, and returns its exit status.  `paths` are those of the results. */
static int conclude(const struct suite_wish *w, const struct suite_results *before,
                    const struct suite_results *after, const char *const paths[2])
{
    struct suite_comparison comparison;
    struct run_failure failure = {0};
    char link[SUITE_PATH_BYTES];
    const struct suite_print print = {stdout, &comparison,
                                      w->link != NULL || w->pages == NULL ? w->link : link,
                                      w->pages != NULL};
    int status;

    snprintf(link, sizeof link, "%.4000s/{}.html", w->pages != NULL ? w->pages : "");
    if (suite_compare(&comparison, before, after, &failure) == 0 &&
        write_pages(w, paths[0], paths[1], &comparison, &failure) == 0) {
        w->print(&print);
        status = suite_comparison_status(&comparison);
        status = finish_output(status);
    } else {
        status = say(&failure);
    }
    suite_comparison_free(&comparison);
    return status;
}

static int run(struct suite_wish *w)
{
    const char *path = w->argument_count != 0 ? w->arguments[0] : SUITE_FILE_DEFAULT;
    const char *const paths[] = {NULL, w->output != NULL ? w->output : RESULTS_DEFAULT};
    struct suite_results results = {0};
    struct run_failure failure = {0};
    struct suite suite = {0};
    int status;

    if (w->selection.resume && !remote_where_is(&w->selection.where))
        return error_exit(HR_EXIT_USAGE,
                          "--resume: runs on other machines alone continue; name --hosts or "
                          "--slurm, or leave it out");
    if (suite_read(&suite, path, &failure) == 0 &&
        suite_run(&suite, &w->selection, paths[1], &results, &failure) == 0)
        status = conclude(w, NULL, &results, paths);
    else
        status = say(&failure);
    suite_results_free(&results);
    suite_free(&suite);
    return status;
}

static int compare(struct suite_wish *w)
{
    const char *const paths[] = {w->arguments[0],
                                 w->argument_count > 1 ? w->arguments[1] : RESULTS_DEFAULT};
    struct suite_results before = {0}, after = {0};
    struct run_failure failure = {0};
    int status;

    if (w->argument_count == 0)
        return error_exit(HR_EXIT_USAGE, "hr suite compare: name a base: a baseline, or a file or "
                                         "folder of results");
    if (suite_baseline_find(w->store.folder, w->arguments[0], &before, &failure) == 0 &&
        suite_results_read(&after, paths[1], &failure) == 0)
        status = conclude(w, &before, &after, paths);
    else
        status = say(&failure);
    suite_results_free(&before);
    suite_results_free(&after);
    return status;
}

static int show(struct suite_wish *w)
{
    const char *const paths[] = {NULL, w->argument_count != 0 ? w->arguments[0] : RESULTS_DEFAULT};
    struct run_failure failure = {0};
    struct suite_results results = {0};
    int status;

    status = suite_baseline_find(w->store.folder, paths[1], &results, &failure) == 0
                 ? conclude(w, NULL, &results, paths)
                 : say(&failure);
    suite_results_free(&results);
    return status;
}

/* ---- baselines */

static int save_baseline(struct suite_wish *w)
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

static int list_baselines(struct suite_wish *w)
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

static int show_baseline(struct suite_wish *w)
{
    static const char *const paths[] = {NULL, NULL};
    struct run_failure failure = {0};
    struct suite_results results = {0};
    int status;

    if (w->argument_count == 1)
        return list_baselines(w);
    status = suite_baseline_read(&w->store, w->arguments[1], &results, &failure) == 0
                 ? conclude(w, NULL, &results, paths)
                 : say(&failure);
    suite_results_free(&results);
    return status;
}

static int baseline(struct suite_wish *w)
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

static const struct subcommand {
    const char *name;
    const struct argp_option *options;
    int (*run)(struct suite_wish *w);
    size_t arguments; /* at most */
    const char *args_doc, *doc;
} subcommands[] = {
    {"run", suite_options_run, run, 1, "[FILE]",
     "Runs the benchmarks of a suite (default microtome.toml) and judges them by the limits that "
     "need no base."},
    {"compare", suite_options_compare, compare, 2, "BASE [NEW]",
     "Compares results (default those of microtome-results) with a baseline, or with other "
     "results, "
     "and judges them by their limits."},
    {"show", suite_options_compare, show, 1, "[RESULTS]", "Shows results."},
    {"baseline", suite_options_baseline, baseline, 3,
     "save NAME [RESULTS]\nshow [NAME]\nprune NAME", "Keeps, shows and removes baselines."},
};

static int run_subcommand(const struct subcommand *s, int argc, char **argv)
{
    const struct argp argp = {.options = s->options, .args_doc = s->args_doc, .doc = s->doc};
    struct suite_wish w = {.argument_max = s->arguments,
                           .selection = {.warm_up = UINT64_MAX},
                           .print = suite_print_table,
                           .store = {.folder = SUITE_BASELINES_DEFAULT}};
    char name[32];
    int status;

    snprintf(name, sizeof name, "hr suite %s", s->name);
    argv[0] = name;
    suite_options_parse(&w, argp, s->run == run, argc, argv);
    status = s->run(&w);
    suite_options_free(&w);
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

    if (argc > 1 && strcmp(argv[1], "task") == 0)
        return suite_task_command(argc - 1, argv + 1);
    for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return run_subcommand(&subcommands[i], argc - 1, argv + 1);
    command_line_parse(&argp, argc, argv, 0, NULL);
    return HR_EXIT_USAGE;
}
