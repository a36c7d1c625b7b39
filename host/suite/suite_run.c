/* Runs the benchmarks of a suite. */
#include "host/suite/suite_runs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/trial/trial.h"

static bool has_tag(const struct suite_benchmark *b, const struct suite_texts *tags)
{
    for (size_t i = 0; i < tags->count; i++)
        if (suite_texts_have(&b->tags, tags->list[i]))
            return true;
    return tags->count == 0;
}

bool suite_is_selected(const struct suite_benchmark *b, const struct suite_selection *s)
{
    return has_tag(b, &s->tags) && (s->names.count == 0 || suite_texts_have(&s->names, b->name));
}

static int unknown(const char *what, const char *name, const struct nearest *nearest,
                   struct run_failure *failure)
{
    char list[256], safe[100];

    text_escape(safe, sizeof safe, name);
    if (nearest->count == 0)
        return run_fail_as(failure, 2, "the suite has no %s '%s'", what, safe);
    return run_fail_as(failure, 2, "the suite has no %s '%s'; near: %s", what, safe,
                       nearest_list(nearest, list, sizeof list));
}

/* A name or a tag that no benchmark has is a mistake. */
static int check_selection(const struct suite *suite, const struct suite_selection *s,
                           struct run_failure *failure)
{
    struct nearest nearest;

    for (size_t i = 0; i < s->names.count + s->tags.count; i++) {
        bool tag = i >= s->names.count, found = false;
        const char *name = tag ? s->tags.list[i - s->names.count] : s->names.list[i];

        nearest_init(&nearest, name);
        for (size_t b = 0; b < suite->benchmark_count; b++) {
            const struct suite_benchmark *one = &suite->benchmarks[b];

            found |= tag ? suite_texts_have(&one->tags, name) : strcmp(one->name, name) == 0;
            for (size_t t = 0; tag && t < one->tags.count; t++)
                nearest_offer(&nearest, one->tags.list[t]);
            if (!tag)
                nearest_offer(&nearest, one->name);
        }
        if (!found)
            return unknown(tag ? "tag" : "benchmark", name, &nearest, failure);
    }
    return 0;
}

void suite_places_set(const struct suite *suite, const struct suite_benchmark *b,
                      const char *folder, uint32_t number, struct suite_places *p)
{
    char more[16] = "";

    if (number != 1)
        snprintf(more, sizeof more, "+%u", number);
    snprintf(p->directory, sizeof p->directory, "%s%s%s",
             b->directory != NULL && b->directory[0] == '/' ? "" : suite->folder,
             b->directory != NULL && b->directory[0] != '/' ? "/" : "",
             b->directory != NULL ? b->directory : "");
    snprintf(p->trace, sizeof p->trace, "%s/%s%s.hr", folder, b->name, more);
    snprintf(p->output, sizeof p->output, "%s/%s%s.out", folder, b->name, more);
    snprintf(p->errors, sizeof p->errors, "%s/%s%s.err", folder, b->name, more);
}

int suite_outcome_begin(struct suite_outcome *o, const struct suite_benchmark *b,
                        struct run_failure *failure)
{
    int error = 0;

    for (size_t i = 0; i < b->limits.count && error == 0; i++)
        error = suite_limits_add(&o->limits, b->limits.list[i].event, b->limits.list[i].function,
                                 b->limits.list[i].text);
    o->name = strdup(b->name);
    return error == 0 && o->name != NULL ? 0
                                         : run_fail(failure, "out of memory; end other programs");
}

char *suite_problem(const struct suite_benchmark *b, int status, const char *errors,
                    char text[SUITE_PROBLEM_BYTES])
{
    char reason[RUN_CHILD_REASON_BYTES];

    run_child_reason(errors, reason);
    if (status == RUN_EXIT_TIMEOUT)
        snprintf(text, SUITE_PROBLEM_BYTES, "it did not end in time: %s", reason);
    else if (status >= RUN_EXIT_FAILED && status <= RUN_EXIT_NOT_FOUND)
        snprintf(text, SUITE_PROBLEM_BYTES, "%s", reason);
    else
        snprintf(text, SUITE_PROBLEM_BYTES, "it ended with status %d, not %d: %s", status,
                 b->exit_status, reason);
    return text;
}

static int fail_run(const struct suite_benchmark *b, int status, const char *errors,
                    struct suite_outcome *o)
{
    char text[SUITE_PROBLEM_BYTES];

    o->problem = strdup(suite_problem(b, status, errors, text));
    return o->problem != NULL ? 0 : -ENOMEM;
}

uint32_t suite_warm_up(const struct suite_benchmark *b, const struct suite_selection *s)
{
    return s->warm_up != UINT64_MAX ? (uint32_t)s->warm_up : b->warm_up;
}

int suite_note_kernel(struct suite_outcome *o, const char *kernel)
{
    return o->exact || o->problem != NULL ? 0 : diff_facts_add(&o->facts, "Linux", kernel);
}

/* Run `number` of a benchmark; 0 does not count. */
static int run_once(const struct suite *suite, const struct suite_benchmark *b, const char *folder,
                    uint32_t number, struct suite_outcome *o, struct run_failure *failure)
{
    struct suite_places places;
    const struct trial_files files = {places.trace, places.output, places.errors};
    const struct trial trial = {.options = b->options.list,
                                .option_count = b->options.count,
                                .program = b->command.list,
                                .program_count = b->command.count,
                                .place = {places.directory, b->input}};
    struct trial_output output;
    int status, error = 0;

    suite_places_set(suite, b, folder, number, &places);
    status = trial_run(&trial, &files, &output, failure);
    if (status >= 0 && number != 0)
        error = status != b->exit_status ? fail_run(b, status, places.errors, o)
                                         : suite_repeat_add(o, number, places.trace, &output);
    if (number != 1)
        trial_remove(&files);
    if (status < 0)
        return -1;
    return error == 0 ? 0 : run_fail(failure, "out of memory; end other programs");
}

static int run_one(const struct suite *suite, const struct suite_benchmark *b, const char *folder,
                   const struct suite_selection *selection, struct suite_outcome *o,
                   struct run_failure *failure)
{
    struct remote_parcel here;
    int result = suite_outcome_begin(o, b, failure);

    for (uint32_t i = 0; i < suite_warm_up(b, selection) && result == 0; i++)
        result = run_once(suite, b, folder, 0, o, failure);
    if (result == 0)
        result = run_once(suite, b, folder, 1, o, failure);
    for (uint32_t i = 2; result == 0 && i <= suite_repeat_count(selection, b, o); i++)
        result = run_once(suite, b, folder, i, o, failure);
    remote_parcel_here(&here);
    if (result == 0 && suite_note_kernel(o, here.kernel) != 0)
        result = run_fail(failure, "out of memory; end other programs");
    return result;
}

void suite_say(const struct suite_outcome *o, size_t number, size_t of)
{
    char count[TEXT_QUANTITY_BYTES], word[SUITE_WORD_BYTES], runs[40] = "";

    if (o->event_count != 0 && !o->exact)
        snprintf(runs, sizeof runs, ", mean of %zu run%s", o->events[0].value_count,
                 o->events[0].value_count == 1 ? "" : "s");
    if (o->problem != NULL || o->event_count == 0)
        fprintf(stderr, "hr: %zu of %zu: %s: %s\n", number, of, o->name,
                o->problem != NULL ? o->problem : "nothing was counted");
    else
        fprintf(stderr, "hr: %zu of %zu: %s: %s %s%s\n", number, of, o->name,
                text_count(count, o->events[0].total), suite_event_word(&o->events[0], word), runs);
}

static int make_folder(const char *output, char folder[PATH_MAX], struct run_failure *failure)
{
    if ((mkdir(output, 0777) != 0 && errno != EEXIST) || realpath(output, folder) == NULL)
        return run_fail(failure, "cannot make the folder '%s': %s", output, strerror(errno));
    return 0;
}

static int run_all(const struct suite *suite, const struct suite_selection *selection,
                   const char *folder, struct suite_results *results, struct run_failure *failure)
{
    size_t done = 0;

    for (size_t i = 0; i < suite->benchmark_count; i++) {
        struct suite_outcome *o = &results->outcomes[done];

        if (!suite_is_selected(&suite->benchmarks[i], selection))
            continue;
        done++;
        if (run_one(suite, &suite->benchmarks[i], folder, selection, o, failure) != 0)
            return -1;
        if (!selection->quiet)
            suite_say(o, done, results->outcome_count);
    }
    return 0;
}

static int make_outcomes(const struct suite *suite, const struct suite_selection *selection,
                         struct suite_results *results, struct run_failure *failure)
{
    size_t wanted = 0;

    for (size_t i = 0; i < suite->benchmark_count; i++)
        wanted += suite_is_selected(&suite->benchmarks[i], selection);
    if (wanted == 0)
        return run_fail_as(failure, 2, "no benchmark is selected");
    results->outcomes = calloc(wanted, sizeof results->outcomes[0]);
    results->suite = strdup(suite->name);
    results->architecture = strdup(SUITE_ARCHITECTURE);
    if (results->outcomes == NULL || results->suite == NULL || results->architecture == NULL)
        return run_fail(failure, "out of memory; end other programs");
    results->outcome_count = wanted;
    return 0;
}

int suite_run(const struct suite *suite, const struct suite_selection *selection,
              const char *output, struct suite_results *results, struct run_failure *failure)
{
    char folder[PATH_MAX], path[PATH_MAX + 100];
    int result;

    if (check_selection(suite, selection, failure) != 0 ||
        make_folder(output, folder, failure) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/" SUITE_RESULTS_NAME, folder);
    unlink(path); /* the results of a run that was interrupted are not the former ones */
    result = make_outcomes(suite, selection, results, failure);
    if (result == 0)
        result = remote_where_is(&selection->where)
                     ? suite_remote(suite, selection, folder, results, failure)
                     : run_all(suite, selection, folder, results, failure);
    return result == 0 ? suite_results_write(results, path, failure) : -1;
}
