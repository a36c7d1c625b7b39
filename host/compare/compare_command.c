/* hr compare: two programs, or two revisions of one, in turn: what is different, and how sure that
 * is. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/compare/compare_gate.h"
#include "host/compare/compare_git.h"
#include "host/compare/compare_print.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

#define SEPARATOR ":::"
#define WARM_UP_MAX 1000u
#define TABLE_LIMIT 20u
#define LIMIT_UNSET UINT64_MAX

enum { KEY_REPEAT = 256, KEY_WARM_UP, KEY_SEED, KEY_FAIL_ABOVE, KEY_BUILD, KEY_GIT };

struct options {
    struct compare *compare;
    struct trial_options run;
    struct compare_git git;
    enum compare_format format;
    struct diff_limit fail_above;
    uint64_t limit;
    const char *output;
    char *events;
};

/* --git REV1 REV2: the second one is the next argument. */
static void take_revisions(struct options *o, char *argument, struct argp_state *state)
{
    if (state->next >= state->argc || state->argv[state->next][0] == '-')
        argp_error(state, "--git %s: name two revisions, --git REV1 REV2", argument);
    o->git.revisions[0] = argument;
    o->git.revisions[1] = state->argv[state->next++];
}

/* Divides the rest of the command line at ":::". */
static void take_programs(struct options *o, struct argp_state *state)
{
    struct trial *trials = o->compare->trials;
    size_t count = (size_t)state->argc - (size_t)state->next + 1, first = 0;
    char **all = state->argv + state->next - 1;

    state->next = state->argc;
    while (first < count && strcmp(all[first], SEPARATOR) != 0)
        first++;
    trials[0].program = all;
    trials[0].program_count = first;
    if (o->git.revisions[0] != NULL && first != count)
        argp_error(state, "--git compares two revisions of one program; leave out " SEPARATOR);
    if (o->git.revisions[0] != NULL) {
        trials[1] = trials[0];
        return;
    }
    if (first == 0 || first + 1 >= count)
        argp_error(state, "two programs are needed: A " SEPARATOR " B, or --git REV1 REV2 -- A");
    trials[1].program = all + first + 1;
    trials[1].program_count = count - first - 1;
    for (size_t i = first + 1; i < count; i++)
        if (strcmp(all[i], SEPARATOR) == 0)
            argp_error(state, "hr compare compares two programs; 'hr bench' takes more");
}

static void check_end(const struct options *o, const struct argp_state *state)
{
    if (o->git.build != NULL && o->git.revisions[0] == NULL)
        argp_error(state, "--build is for --git REV1 REV2; leave it out");
    if (o->compare->trials[0].program_count == 0)
        argp_error(state, "no program given");
}

static error_t parse_other(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = {"table", "csv", "json"};
    struct options *o = state->input;
    int format;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &o->run;
        return 0;
    case 'f':
        format = option_word(argument, formats, ARRAY_COUNT(formats));
        if (format < 0)
            argp_error(state, "--format %s: choose table, csv or json", argument);
        o->format = (enum compare_format)format;
        return 0;
    case KEY_FAIL_ABOVE:
        if (!diff_parse_limit(argument, &o->fail_above))
            argp_error(state, "--fail-above %s: neither a share nor a number; write 1%% or 500",
                       argument);
        return 0;
    case KEY_GIT:
        take_revisions(o, argument, state);
        return 0;
    case ARGP_KEY_ARG:
        take_programs(o, state);
        return 0;
    case ARGP_KEY_END:
        check_end(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'o', OPTION_TEXT, .offset = offsetof(struct options, output)},
        {'e', OPTION_TEXT, .offset = offsetof(struct options, events)},
        {KEY_BUILD, OPTION_TEXT, .offset = offsetof(struct options, git.build)},
        {'n', OPTION_NUMBER, offsetof(struct options, limit), "limit", "not a number", 0,
         UINT32_MAX},
        {0},
    };
    static const struct option_field compare_fields[] = {
        {KEY_REPEAT, OPTION_NUMBER, offsetof(struct compare, repeat), "repeat",
         "not a number of runs from 1 to 1000", 1, COMPARE_REPEAT_MAX},
        {KEY_WARM_UP, OPTION_NUMBER, offsetof(struct compare, warm_up), "warmup",
         "not a number of runs from 0 to 1000", 0, WARM_UP_MAX},
        {KEY_SEED, OPTION_NUMBER, offsetof(struct compare, seed), "seed", "not a number", 0,
         UINT32_MAX},
        {'q', OPTION_FLAG, .offset = offsetof(struct compare, quiet)},
        {0},
    };
    struct options *o = state->input;

    if (option_store(fields, key, argument, o, state) ||
        option_store(compare_fields, key, argument, o->compare, state))
        return 0;
    return parse_other(key, argument, state);
}

/* The folder for the traces: that of -o, which must be new or empty, or a temporary one. */
static int make_folder(struct options *o, struct run_failure *failure)
{
    struct compare *c = o->compare;
    char path[PATH_MAX];

    c->keep = o->output != NULL;
    if (!c->keep)
        return run_child_folder(c->folder, "compare", failure);
    if ((rmdir(o->output) != 0 && errno != ENOENT) || mkdir(o->output, 0777) != 0)
        return run_fail(failure, "-o %s: %s; name a folder that is new or empty", o->output,
                        strerror(errno));
    if (realpath(o->output, path) == NULL || strlen(path) >= sizeof c->folder)
        return run_fail(failure, "-o %s: %s", o->output, strerror(errno));
    strcpy(c->folder, path);
    return 0;
}

static int measure(struct options *o, struct run_failure *failure)
{
    struct compare *c = o->compare;

    if (make_folder(o, failure) != 0)
        return -1;
    if (o->git.revisions[0] != NULL && compare_git_make(&o->git, failure) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        c->trials[i].options = o->run.texts;
        c->trials[i].option_count = o->run.count;
        c->trials[i].events = o->events;
        c->names[i] = o->git.revisions[i];
        if (o->git.made[i])
            c->trials[i].place.directory = o->git.places[i];
    }
    return compare_measure(c, failure);
}

static int present(const struct options *o, const struct compare_row *rows, uint32_t count)
{
    const struct compare *c = o->compare;
    uint64_t limit = o->limit != LIMIT_UNSET      ? o->limit
                     : o->format == COMPARE_TABLE ? TABLE_LIMIT
                                                  : 0;
    const struct compare_shown shown = {.rows = rows, .count = count, .limit = limit};
    struct output *out;

    if (o->format == COMPARE_TABLE) {
        compare_print(stdout, c, &shown);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (o->format == COMPARE_CSV ? compare_print_csv : compare_print_json)(out, c, &shown);
    return reader_output_close(out);
}

/* What was done before an interruption is shown, too. */
static int conclude(const struct options *o, const struct run_failure *failure)
{
    static struct compare_row rows[HR_EVENTS_MAX + 1];
    const struct compare *c = o->compare;
    uint32_t count;
    int status;

    if (c->done == 0)
        return error_exit(failure->exit_status, "%s", failure->text);
    count = compare_rows(c, rows);
    status = present(o, rows, count);
    fflush(stdout);
    if (failure->exit_status != 0)
        return error_exit(failure->exit_status, "%s; this is what %u of %llu runs of each say",
                          failure->text, c->done, (unsigned long long)c->repeat);
    if (status != HR_EXIT_OK)
        return HR_EXIT_USAGE;
    return o->fail_above.given ? compare_gate(c, rows, count, &o->fail_above) : HR_EXIT_OK;
}

static const char doc[] =
    "Run two programs in turn and say what is different, and how sure that is."
    "\vIn virtual time (an emulated run) one run of each suffices, and the difference is exact.  "
    "On "
    "hardware each runs ten times, in random order; the interval of 95 % is that of the mean "
    "difference, by the bootstrap.  'can show' is the smallest change that so many runs find four "
    "times out of five, and '1 % takes' says how many runs would find one of 1 %.\n\n"
    "With --git, both revisions are built and run in worktrees of their own, which are removed "
    "afterwards.  Their paths are of equal length, because a program has its path on its stack.  "
    "Relative paths of the program and of options are then those of the worktrees.\n\n"
    "Exit status: 0; with --fail-above 1 if it grew by more, 2 if that cannot be decided; 125 when "
    "Microtome failed.\n\n"
    "Examples:\n"
    "  hr compare -- ./before 1000 ::: ./after 1000\n"
    "  hr compare --repeat 20 -e cycles,instructions -- ./before ::: ./after\n"
    "  hr compare --build make --git HEAD~1 HEAD -- ./my-program\n"
    "  hr compare --fail-above 0.5% --build make --git main HEAD -- ./my-program";

int compare_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"repeat", KEY_REPEAT, "N", 0,
         "Run each N times (default: 1 in virtual time, 10 on hardware)", 0},
        {"warmup", KEY_WARM_UP, "N", 0, "Run each N times before (default 0)", 0},
        {"seed", KEY_SEED, "N", 0, "Of the order of the runs (default 1)", 0},
        {"event", 'e', "LIST", 0, "Events as for hr run", 0},
        {"output", 'o', "DIR", 0, "Keep the traces in this folder", 0},
        {"limit", 'n', "N", 0, "Show the N functions that changed most (table: default 20; 0: all)",
         0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {"quiet", 'q', 0, 0, "No progress", 0},
        {"fail-above", KEY_FAIL_ABOVE, "N", 0,
         "Exit with status 1 if instructions grew by more than N, or N%; with 2 if that cannot be "
         "decided",
         1},
        {"git", KEY_GIT, "REV1 REV2", 0, "Compare the program of two git revisions", 1},
        {"build", KEY_BUILD, "CMD", 0, "... after this command, for sh -c, built each", 1},
        {0, 0, 0, 0, "As for hr run:", 2},
        {0},
    };
    static const struct argp_child children[] = {
        {&trial_options_argp, 0, NULL, 2}, {&trial_options_sampling_argp, 0, NULL, 2}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .args_doc = "[--] A [ARG...] " SEPARATOR " B [ARG...]\n--git REV1 REV2 [--] A [ARG...]",
        .doc = doc,
        .children = children,
    };
    static struct compare compare = {.seed = 1};
    struct options options = {.compare = &compare, .limit = LIMIT_UNSET};
    struct run_failure failure = {0};
    int status;

    command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
    measure(&options, &failure);
    compare_git_remove(&options.git);
    status = conclude(&options, &failure);
    if (!compare.keep && compare.folder[0] != 0)
        rmdir(compare.folder);
    compare_free(&compare);
    array_free_texts(&options.run.texts, &options.run.count);
    if (status != HR_EXIT_OK || (fflush(stdout) == 0 && !ferror(stdout)))
        return status;
    return error_exit(HR_EXIT_USAGE, "standard output: %s; free some space or write elsewhere",
                      strerror(errno));
}
