/* Performs the runs of a comparison and joins what they counted. */
#include "host/compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"

static const char *const words[] = {"before", "after"};

struct paths {
    char trace[PATH_MAX], output[PATH_MAX], errors[PATH_MAX];
};

static struct trial_files files_of(const struct compare *c, int side, uint32_t number,
                                   struct paths *paths)
{
    snprintf(paths->trace, PATH_MAX, "%s/%s-%u.hr", c->folder, words[side], number);
    snprintf(paths->output, PATH_MAX, "%s/%s-%u.out", c->folder, words[side], number);
    snprintf(paths->errors, PATH_MAX, "%s/%s-%u.err", c->folder, words[side], number);
    return (struct trial_files){paths->trace, paths->output, paths->errors};
}

static int run_once(struct compare *c, int side, uint32_t number, struct compare_run *run,
                    struct run_failure *failure)
{
    struct paths paths;
    const struct trial_files files = files_of(c, side, number, &paths);

    run->status = trial_run(&c->trials[side], &files, &run->output, failure);
    return run->status < 0 ? -1 : 0;
}

static int fail_run(const struct compare *c, int side, uint32_t number, int status,
                    struct run_failure *failure)
{
    struct paths paths;
    char reason[RUN_CHILD_REASON_BYTES];
    const struct trial_files files = files_of(c, side, number, &paths);

    return run_fail(failure, "a run of the program %s ended with status %d and no whole trace: %s",
                    words[side], status, run_child_reason(files.errors, reason));
}

static int read_side(struct compare *c, int side, uint32_t number, struct diff_side *of,
                     const char *alias, const char *path, struct run_failure *failure)
{
    static const struct symbols_options symbols;
    struct compare_run *run = &c->runs[side][number];
    struct selection all;
    int error;

    selection_init(&all);
    error = access(path, R_OK) == 0
                ? diff_side_read(of, path, &all, &symbols, 0, DIFF_BY_FUNCTION, alias)
                : -ENOENT;
    if (error == -ENOMEM)
        return run_fail(failure, "out of memory; end other programs");
    if (error != 0 || !of->scan.info.has_exit)
        return fail_run(c, side, number + 1, run->status, failure);
    trial_totals_take(&run->totals, &of->scan.info);
    return 0;
}

static int add_pair(struct compare *c, const struct diff_side sides[2], struct run_failure *failure)
{
    struct diff diff;
    int error = diff_compare(&diff, &sides[0], &sides[1], NULL);

    if (error == 0)
        error = compare_functions_add(&c->functions, &diff);
    diff_free(&diff);
    return error == 0 ? 0 : run_fail(failure, "out of memory; end other programs");
}

/* Reads the traces of a pair, and removes what is not kept. */
static int read_pair(struct compare *c, uint32_t number, struct run_failure *failure)
{
    static struct diff_side sides[2];
    struct paths paths[2];
    int result = 0;

    for (int i = 0; i < 2; i++) {
        const struct trial_files files = files_of(c, i, number + 1, &paths[i]);

        if (result == 0)
            result = read_side(c, i, number, &sides[i], i == 1 ? sides[0].program : NULL,
                               files.trace, failure);
    }
    if (result == 0)
        result = add_pair(c, sides, failure);
    for (int i = 0; i < 2; i++) {
        const struct trial_files files = files_of(c, i, number + 1, &paths[i]);

        diff_side_free(&sides[i]);
        if (!c->keep)
            trial_remove(&files);
    }
    return result;
}

static int warm_up(struct compare *c, struct run_failure *failure)
{
    struct compare_run run;
    struct paths paths;

    for (uint64_t i = 0; i < c->warm_up; i++)
        for (int side = 0; side < 2; side++) {
            const struct trial_files files = files_of(c, side, 0, &paths);
            int result = run_once(c, side, 0, &run, failure);

            trial_remove(&files);
            if (result != 0)
                return -1;
        }
    return 0;
}

static int make_room(struct compare *c, struct run_failure *failure)
{
    size_t count = c->repeat != 0 ? c->repeat : COMPARE_REPEAT_HARDWARE;

    for (int i = 0; i < 2; i++) {
        c->runs[i] = calloc(count, sizeof c->runs[i][0]);
        if (c->runs[i] == NULL)
            return run_fail(failure, "out of memory; end other programs");
    }
    return 0;
}

/* The first pair says whether the runs are in virtual time. */
static void learn(struct compare *c)
{
    c->exact = c->runs[0][0].totals.exact && c->runs[1][0].totals.exact;
    if (c->repeat == 0)
        c->repeat = c->exact ? 1 : COMPARE_REPEAT_HARDWARE;
}

static int measure(struct compare *c, struct progress *line, struct run_failure *failure)
{
    uint64_t start_ns = monotonic_ns(), state = c->seed;
    uint32_t order[2];

    for (uint32_t i = 0; i == 0 || i < c->repeat; i++) {
        trial_order(order, 2, &state);
        for (uint32_t k = 0; k < 2; k++) {
            size_t all = 2 * (c->repeat != 0 ? c->repeat : 1);

            trial_show(line, 2 * i + k, all, start_ns);
            if (run_once(c, (int)order[k], i + 1, &c->runs[order[k]][i], failure) != 0)
                return -1;
        }
        if (read_pair(c, i, failure) != 0)
            return -1;
        c->done++;
        if (i == 0)
            learn(c);
    }
    return 0;
}

/* Removes what an interrupted pair left, unless traces are kept. */
static void clear(const struct compare *c)
{
    struct paths paths;

    for (int side = 0; side < 2 && !c->keep; side++) {
        const struct trial_files files = files_of(c, side, c->done + 1, &paths);

        trial_remove(&files);
    }
}

int compare_measure(struct compare *c, struct run_failure *failure)
{
    struct progress line;
    int result;

    if (make_room(c, failure) != 0 || warm_up(c, failure) != 0)
        return -1;
    progress_init(&line, !c->quiet, monotonic_ns());
    result = measure(c, &line, failure);
    progress_erase(&line);
    clear(c);
    compare_functions_finish(&c->functions, c->exact);
    return result;
}

void compare_free(struct compare *c)
{
    compare_functions_free(&c->functions);
    free(c->runs[0]);
    free(c->runs[1]);
    c->runs[0] = c->runs[1] = NULL;
}

/* Where runs are exact, the first one is as good as their mean. */
static void join(const struct compare *c, const int events[2], struct compare_row *row)
{
    static double values[2][COMPARE_REPEAT_MAX];

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->done; i++) {
            const struct trial_totals *totals = &c->runs[side][i].totals;

            values[side][i] = events[side] < 0 ? (double)totals->duration_ns
                                               : (double)totals->totals[events[side]];
        }
    if (c->exact && c->done == 1)
        trial_difference_exact(values[0][0], values[1][0], &row->difference);
    else
        trial_difference_of(values[0], c->done, values[1], c->done, &row->difference);
}

uint32_t compare_rows(const struct compare *c, struct compare_row rows[HR_EVENTS_MAX + 1])
{
    static const int time[2] = {-1, -1};
    const struct trial_totals *before = &c->runs[0][0].totals, *after = &c->runs[1][0].totals;
    uint32_t count = 0;

    for (uint32_t i = 0; i < before->event_count; i++) {
        const int events[2] = {(int)i, trial_totals_find(after, before->names[i])};

        if (events[1] < 0)
            continue;
        rows[count] = (struct compare_row){.name = before->names[i], .source = before->sources[i]};
        join(c, events, &rows[count++]);
    }
    rows[count] = (struct compare_row){
        .name = "time", .time = true, .source = c->exact ? HR_SOURCE_ICOUNT : HR_SOURCE_PMU};
    join(c, time, &rows[count++]);
    return count;
}

const char *compare_disagreement(const struct compare *c, char text[COMPARE_WORDS_BYTES])
{
    const struct compare_run *first = &c->runs[0][0];

    text[0] = 0;
    for (uint32_t i = 0; i < c->done && text[0] == 0; i++)
        for (int side = 0; side < 2 && text[0] == 0; side++) {
            const struct compare_run *run = &c->runs[side][i];

            if (run->status != first->status)
                snprintf(text, COMPARE_WORDS_BYTES,
                         "run %u %s ended with status %d, and the first one before with %d", i + 1,
                         words[side], run->status, first->status);
            else if (!trial_same_output(&run->output, &first->output))
                snprintf(text, COMPARE_WORDS_BYTES,
                         "run %u %s wrote something else (%llu bytes) than the first one before "
                         "(%llu bytes)",
                         i + 1, words[side], (unsigned long long)run->output.bytes,
                         (unsigned long long)first->output.bytes);
        }
    return text;
}

static size_t length_of(const struct trial *trial)
{
    size_t length = 0;

    for (size_t i = 0; i < trial->program_count; i++)
        length += strlen(trial->program[i]) + 1;
    return length;
}

size_t compare_length_difference(const struct compare *c)
{
    size_t before = length_of(&c->trials[0]), after = length_of(&c->trials[1]);

    return before > after ? before - after : after - before;
}
