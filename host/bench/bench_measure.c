/* Performs the runs of hr bench. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/monotonic.h"
#include "host/base/progress.h"
#include "host/base/text.h"
#include "host/bench/bench.h"
#include "host/trial/trial.h"

/* Runs a command of the host, with the job's parameters in it. */
static int run_host(const struct bench *b, const struct bench_job *job, const char *option,
                    const char *command, const struct trial_folder *p, struct run_failure *failure)
{
    const struct run_child_place here = {0};
    char reason[RUN_CHILD_REASON_BYTES];
    char *text;
    int status;

    if (command == NULL)
        return 0;
    text = bench_words_fill(command, &b->parameters, job->combination);
    if (text == NULL)
        return run_fail(failure, "%s: the command is too long", option);
    status = run_child_shell(&here, text, p->output, p->errors, failure);
    free(text);
    if (status > 0 && !b->ignore_failure)
        return run_fail(failure, "%s ended with status %d: %s", option, status,
                        run_child_reason(p->errors, reason));
    return status < 0 ? -1 : 0;
}

static int run_once(const struct bench *b, const struct bench_job *job,
                    const struct trial_folder *p, struct bench_run *run,
                    struct trial_totals *totals, struct run_failure *failure)
{
    const struct trial trial = {
        .options = b->options.texts,
        .option_count = b->options.count,
        .events = b->events,
        .program = job->words,
        .program_count = job->word_count,
    };
    const struct trial_files files = {p->trace, p->output, p->errors};
    char reason[RUN_CHILD_REASON_BYTES], safe[200];
    struct trial_output output;

    if (run_host(b, job, "--prepare", b->prepare, p, failure) != 0)
        return -1;
    run->status = trial_run(&trial, &files, &output, failure);
    if (run->status < 0)
        return -1;
    if (access(p->trace, R_OK) != 0 || trial_totals_read(totals, p->trace) != 0 ||
        !totals->complete)
        return run_fail(failure, "%s: a run ended with status %d and no whole trace: %s",
                        text_escape(safe, sizeof safe, job->text), run->status,
                        run_child_reason(p->errors, reason));
    run->duration_ns = totals->duration_ns;
    memcpy(run->totals, totals->totals, sizeof run->totals);
    if (run->status != 0 && !b->ignore_failure)
        return run_fail_as(failure, 1,
                           "%s ended with status %d; --ignore-failure measures it all the same",
                           text_escape(safe, sizeof safe, job->text), run->status);
    return 0;
}

/* Where runs vary, as many as take three seconds, and ten at least. */
static uint64_t runs_for(const struct bench *b, const struct bench_job *job, uint64_t run_ns)
{
    uint64_t count = run_ns != 0 ? BENCH_NS_HARDWARE / run_ns : BENCH_REPEAT_MAX;

    if (b->repeat != 0)
        return b->repeat;
    if (job->first.exact)
        return 1;
    count = count < BENCH_REPEAT_HARDWARE ? BENCH_REPEAT_HARDWARE : count;
    return count < BENCH_REPEAT_MAX ? count : BENCH_REPEAT_MAX;
}

static void show(struct progress *line, const struct bench *b, const struct bench_job *job,
                 uint64_t wanted)
{
    char text[160];

    snprintf(text, sizeof text, "command %zu of %zu, run %" PRIu32 " of %" PRIu64,
             (size_t)(job - b->jobs) + 1, b->job_count, job->run_count + 1, wanted);
    progress_show(line, text);
}

static int warm_up(const struct bench *b, const struct bench_job *job, const struct trial_folder *p,
                   struct run_failure *failure)
{
    struct trial_totals totals;
    struct bench_run run;

    for (uint64_t i = 0; i < b->warm_up; i++)
        if (run_once(b, job, p, &run, &totals, failure) != 0)
            return -1;
    return 0;
}

static int run_all(const struct bench *b, struct bench_job *job, const struct trial_folder *p,
                   struct progress *line, struct run_failure *failure)
{
    uint64_t wanted = b->repeat != 0 ? b->repeat : 1, start_ns;
    struct trial_totals totals;

    if (run_host(b, job, "--setup", b->setup, p, failure) != 0 || warm_up(b, job, p, failure) != 0)
        return -1;
    while (job->run_count < wanted) {
        struct bench_run run = {0};

        show(line, b, job, wanted);
        start_ns = monotonic_ns();
        if (run_once(b, job, p, &run, &totals, failure) != 0)
            return -1;
        if (array_grow(&job->runs, job->run_count, sizeof job->runs[0]) != 0)
            return run_fail(failure, "out of memory; end other programs");
        job->runs[job->run_count++] = run;
        if (job->run_count == 1) {
            job->first = totals;
            wanted = runs_for(b, job, monotonic_ns() - start_ns);
        }
    }
    return 0;
}

/* What was set up is cleaned up in any case. */
static int run_job(const struct bench *b, struct bench_job *job, const struct trial_folder *p,
                   struct progress *line, struct run_failure *failure)
{
    struct run_failure ignored = {0};
    int result = run_all(b, job, p, line, failure);
    int cleaned = run_host(b, job, "--cleanup", b->cleanup, p, result == 0 ? failure : &ignored);

    return result != 0 ? result : cleaned;
}

static void finish(struct bench_job *job)
{
    static double values[BENCH_REPEAT_MAX];

    for (uint32_t i = 0; i < job->run_count; i++) {
        uint64_t ns = job->runs[i].duration_ns;

        job->least_ns = i == 0 || ns < job->least_ns ? ns : job->least_ns;
        job->most_ns = ns > job->most_ns ? ns : job->most_ns;
        values[i] = (double)ns;
    }
    trial_spread_of(values, job->run_count, &job->time);
    for (uint32_t e = 0; e < job->first.event_count; e++) {
        for (uint32_t i = 0; i < job->run_count; i++)
            values[i] = (double)job->runs[i].totals[e];
        trial_spread_of(values, job->run_count, &job->events[e]);
    }
}

int bench_measure(struct bench *b, struct run_failure *failure)
{
    struct trial_folder folder;
    struct progress line;
    int result = trial_folder_make(&folder, "bench", failure);

    if (result != 0)
        return -1;
    progress_init(&line, !b->quiet, monotonic_ns());
    for (size_t i = 0; i < b->job_count && result == 0; i++)
        result = run_job(b, &b->jobs[i], &folder, &line, failure);
    progress_erase(&line);
    for (size_t i = 0; i < b->job_count; i++)
        finish(&b->jobs[i]);
    trial_folder_remove(&folder);
    return result;
}

void bench_free(struct bench *b)
{
    for (size_t i = 0; i < b->job_count; i++) {
        array_free_texts(&b->jobs[i].words, &b->jobs[i].word_count);
        free(b->jobs[i].text);
        free(b->jobs[i].runs);
    }
    free(b->jobs);
    array_free_texts(&b->options.texts, &b->options.count);
    bench_parameters_free(&b->parameters);
}

const struct bench_job *bench_fastest(const struct bench *b)
{
    const struct bench_job *fastest = NULL;

    for (size_t i = 0; i < b->job_count; i++)
        if (b->jobs[i].run_count != 0 &&
            (fastest == NULL || b->jobs[i].time.mean < fastest->time.mean))
            fastest = &b->jobs[i];
    return fastest;
}
