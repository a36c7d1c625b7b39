/* Parses the options of hr bench, and makes a job of each command with each value. */
#include "host/bench/bench_options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/command_line.h"
#include "host/base/option.h"
#include "host/bench/bench_show.h"

#define SEPARATOR ":::"
#define WARM_UP_MAX 1000u

enum {
    KEY_WARM_UP = 256,
    KEY_PREPARE,
    KEY_SETUP,
    KEY_CLEANUP,
    KEY_EXPORT,
    KEY_IGNORE,
    KEY_COMMAND,
    KEY_FORCE,
};

static const char doc[] =
    "Time commands, with instructions and cycles, and compare them."
    "\vA program runs alone, as hr run runs it; a command is no shell's: its words are divided at "
    "blanks, quotes and backslashes are heeded, and nothing else is special.  The time is that of "
    "the program, without the start of the machine.  In virtual time (an emulated run) one run "
    "suffices.  On hardware each command runs ten times at least, and for three seconds.\n\n"
    "{NAME} in a command, and in those for sh, is the value of the parameter NAME.\n\n"
    "'hr bench memory' measures the memory's bandwidth and latency: see 'hr bench memory "
    "--help'.\n\n"
    "Exit status: 0; 1 if a program failed; 125 when Microtome failed.\n\n"
    "Examples:\n"
    "  hr bench -- ./before 1000 ::: ./after 1000\n"
    "  hr bench -P n=1000..5000..1000 -- ./my-program {n}\n"
    "  hr bench -L level=1,6,9 --export gzip.md -- gzip -k -{level} data\n"
    "  hr bench --prepare 'rm -f out' --command './a out' --command './b out'";

static const struct argp_option table[] = {
    {"command", KEY_COMMAND, "COMMAND", 0, "A command as one text; may be repeated", 0},
    {"repeat", 'r', "N", 0,
     "Runs of each command (default: 1 in virtual time, else 10 or more, for 3 s)", 0},
    {"runs", 'r', 0, OPTION_ALIAS, 0, 0},
    {"warmup", KEY_WARM_UP, "N", 0, "Runs of each before that do not count (default 0)", 0},
    {"parameter", 'P', "NAME=A..B[..STEP]", 0, "Run each command with each of these numbers", 0},
    {"list", 'L', "NAME=A,B,...", 0, "Run each command with each of these texts", 0},
    {"prepare", KEY_PREPARE, "CMD", 0, "Run this before each run, by sh on the host", 0},
    {"setup", KEY_SETUP, "CMD", 0, "... before the first run of each command", 0},
    {"cleanup", KEY_CLEANUP, "CMD", 0, "... after the last run of each command", 0},
    {"ignore-failure", KEY_IGNORE, 0, 0, "Measure programs that fail, too", 0},
    {"export", KEY_EXPORT, "FILE", 0,
     "Write the figures to FILE.json, .csv (as hyperfine does) or .md; may be repeated", 0},
    {"force", KEY_FORCE, 0, 0, "Replace files that are no exports of hr bench", 0},
    {"event", 'e', "LIST", 0, "Events as for hr run", 0},
    {"quiet", 'q', 0, 0, "No progress", 0},
    {0, 0, 0, 0, "As for hr run (--mode is off by default: no samples are taken):", 2},
    {0},
};

static void take_export(struct bench_wishes *w, const char *path, const struct argp_state *state)
{
    if (!bench_export_is_known(path))
        argp_error(state, "--export %s: name a file FILE.json, FILE.csv or FILE.md", path);
    if (w->export_count == BENCH_EXPORTS_MAX)
        argp_error(state, "--export: more than %u files", BENCH_EXPORTS_MAX);
    w->exports[w->export_count++] = path;
}

static void take_parameter(struct bench_wishes *w, int key, const char *text,
                           const struct argp_state *state)
{
    struct run_failure failure = {0};

    if ((key == 'P' ? bench_parameters_range : bench_parameters_list)(&w->bench->parameters, text,
                                                                      &failure) != 0)
        argp_error(state, "%s", failure.text);
}

static error_t parse_other(int key, char *argument, struct argp_state *state)
{
    struct bench_wishes *w = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &w->bench->options;
        return 0;
    case 'P':
    case 'L':
        take_parameter(w, key, argument, state);
        return 0;
    case KEY_EXPORT:
        take_export(w, argument, state);
        return 0;
    case KEY_COMMAND:
        return -array_append_text(&w->commands, &w->command_count, argument);
    case ARGP_KEY_ARG:
        w->words = state->argv + state->next - 1;
        w->word_count = (size_t)state->argc - (size_t)state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (w->command_count == 0 && w->word_count == 0)
            argp_error(state, "say what to measure: a command, or memory");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'r', OPTION_NUMBER, offsetof(struct bench, repeat), "repeat",
         "not a number of runs from 1 to 1000", 1, BENCH_REPEAT_MAX},
        {KEY_WARM_UP, OPTION_NUMBER, offsetof(struct bench, warm_up), "warmup",
         "not a number of runs from 0 to 1000", 0, WARM_UP_MAX},
        {KEY_PREPARE, OPTION_TEXT, .offset = offsetof(struct bench, prepare)},
        {KEY_SETUP, OPTION_TEXT, .offset = offsetof(struct bench, setup)},
        {KEY_CLEANUP, OPTION_TEXT, .offset = offsetof(struct bench, cleanup)},
        {KEY_IGNORE, OPTION_FLAG, .offset = offsetof(struct bench, ignore_failure)},
        {'e', OPTION_TEXT, .offset = offsetof(struct bench, events)},
        {'q', OPTION_FLAG, .offset = offsetof(struct bench, quiet)},
        {0},
    };
    struct bench_wishes *w = state->input;

    if (key == KEY_FORCE) {
        w->force = true;
        return 0;
    }
    if (option_store(fields, key, argument, w->bench, state))
        return 0;
    return parse_other(key, argument, state);
}

/* Adds a job, whose words are of one combination of the parameters; it becomes the owner. */
static int add_job(struct bench *b, char **words, size_t count, size_t combination,
                   struct run_failure *failure)
{
    struct bench_job *job;

    if (b->job_count == BENCH_JOBS_MAX) {
        array_free_texts(&words, &count);
        return run_fail(failure, "more than %u commands with their parameters; leave some out",
                        BENCH_JOBS_MAX);
    }
    if (array_grow(&b->jobs, b->job_count, sizeof b->jobs[0]) != 0) {
        array_free_texts(&words, &count);
        return run_fail(failure, "out of memory; end other programs");
    }
    job = &b->jobs[b->job_count++];
    *job = (struct bench_job){.words = words, .word_count = count, .combination = combination};
    job->text = bench_words_join(words, count);
    return job->text != NULL ? 0 : run_fail(failure, "out of memory; end other programs");
}

/* A command with each combination of the parameters, which are filled in word by word: a value with
 * blanks stays one word. */
static int add_jobs(struct bench *b, char *const *words, size_t count, struct run_failure *failure)
{
    size_t combinations = bench_parameters_combinations(&b->parameters);

    if (combinations == 0)
        return run_fail(failure, "the parameters have more than %u combinations; leave some out",
                        BENCH_VALUES_MAX);
    for (size_t c = 0; c < combinations; c++) {
        char **filled = NULL;
        size_t filled_count = 0;

        for (size_t i = 0; i < count; i++) {
            char *word = bench_words_fill(words[i], &b->parameters, c);

            if (word == NULL || array_append_text(&filled, &filled_count, word) != 0) {
                free(word);
                array_free_texts(&filled, &filled_count);
                return run_fail(failure, "a command is too long");
            }
            free(word);
        }
        if (add_job(b, filled, filled_count, c, failure) != 0)
            return -1;
    }
    return 0;
}

static int add_texts(struct bench_wishes *w, struct run_failure *failure)
{
    for (size_t i = 0; i < w->command_count; i++) {
        char **words = NULL;
        size_t count = 0;
        int result = bench_words_split(w->commands[i], &words, &count, failure);

        if (result == 0)
            result = add_jobs(w->bench, words, count, failure);
        array_free_texts(&words, &count);
        if (result != 0)
            return -1;
    }
    return 0;
}

static int add_programs(struct bench_wishes *w, struct run_failure *failure)
{
    for (size_t at = 0; at < w->word_count;) {
        size_t end = at;

        while (end < w->word_count && strcmp(w->words[end], SEPARATOR) != 0)
            end++;
        if (end == at || end + 1 == w->word_count)
            return run_fail(failure, "a command is empty; name a program on both sides of ':::'");
        if (add_jobs(w->bench, w->words + at, end - at, failure) != 0)
            return -1;
        at = end + 1;
    }
    return 0;
}

/* Sampling costs time, and nothing here needs it. */
static int choose_mode(struct trial_options *o, struct run_failure *failure)
{
    for (size_t i = 0; i < o->count; i++)
        if (strncmp(o->texts[i], "--mode=", 7) == 0 || strncmp(o->texts[i], "--count=", 8) == 0 ||
            strncmp(o->texts[i], "--freq=", 7) == 0)
            return 0;
    return array_append_text(&o->texts, &o->count, "--mode=off") == 0
               ? 0
               : run_fail(failure, "out of memory; end other programs");
}

int bench_options_parse(struct bench_wishes *w, int argc, char **argv, struct run_failure *failure)
{
    static const struct argp_child children[] = {
        {&trial_options_argp, 0, NULL, 2}, {&trial_options_sampling_argp, 0, NULL, 2}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .args_doc = "[--] COMMAND [ARG...] [" SEPARATOR " COMMAND [ARG...]]...\nmemory",
        .doc = doc,
        .children = children,
    };
    int result;

    command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, w);
    result = add_programs(w, failure);
    if (result == 0)
        result = add_texts(w, failure);
    return result == 0 ? choose_mode(&w->bench->options, failure) : -1;
}
