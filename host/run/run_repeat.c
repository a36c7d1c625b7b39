/* Repeats a run and shows the spread of its events and of its time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/run/run_repeat.h"
#include "host/summary/summary.h"

#define EVERY_RUN "%d" /* in the trace's name: the number of the run */

struct spread { /* mean and squares, by Welford's method */
    double mean, squares, least, most;
    uint32_t count;
};

struct repeat {
    const struct options *options;
    struct spread events[HR_EVENTS_MAX];
    struct spread duration;
    uint32_t done; /* runs */
    uint32_t failed; /* runs with a status that is not 0 */
    uint32_t first_failed; /* its number, from 1 */
    int status; /* its status */
    off_t input; /* start of the input; -1: only one run can read it */
};

static void add(struct spread *s, double value)
{
    double off = value - s->mean;

    s->least = s->count == 0 || value < s->least ? value : s->least;
    s->most = s->count == 0 || value > s->most ? value : s->most;
    s->mean += off / ++s->count;
    s->squares += off * (value - s->mean);
}

/* Returns the standard deviation of a single run, in percent of the mean. */
static double deviation(const struct spread *s)
{
    if (s->count < 2 || s->mean == 0)
        return 0;
    return 100 * sqrt(s->squares / (s->count - 1)) / s->mean;
}

/* A pipe can be read once, and a file again for each run; a terminal and /dev/null need no
 * preparation. */
static int prepare_input(struct repeat *r, struct run_failure *failure)
{
    struct stat status;

    r->input = -1;
    if (fstat(STDIN_FILENO, &status) != 0 || S_ISCHR(status.st_mode))
        return 0;
    if (S_ISREG(status.st_mode) && (r->input = lseek(STDIN_FILENO, 0, SEEK_CUR)) >= 0)
        return 0;
    return run_fail(
        failure,
        "--repeat: standard input can be read once only; give a file with < FILE, or < /dev/null");
}

/* Returns the name of the trace of run `number`; one name for all if it has no number in it.  The
 * caller frees it. */
static char *trace_name(const struct options *o, uint32_t number)
{
    const char *mark = strstr(o->output, EVERY_RUN);
    char *name;

    if (mark == NULL)
        return strdup(o->output);
    if (asprintf(&name, "%.*s%u%s", (int)(mark - o->output), o->output, number,
                 mark + strlen(EVERY_RUN)) < 0)
        return NULL;
    return name;
}

static bool is_trace(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void take(struct repeat *r, const char *path)
{
    static struct summary summary;

    if (!is_trace(path) || summary_from_file(path, &summary) != 0)
        return;
    for (uint32_t i = 0; i < summary.info.event_count; i++) {
        bool whole;

        add(&r->events[i], (double)summary_event_total(&summary, i, &whole));
    }
    add(&r->duration, (double)summary.duration_ns);
    summary_free(&summary);
}

/* Removes the trace of the previous run first, so that it does not become FILE.old, which may hold
 * an older one. */
static int run_number(struct repeat *r, uint32_t number, run_repeat_once *once, bool *stopped,
                      struct run_failure *failure)
{
    struct options o = *r->options;
    char *path = trace_name(&o, number);
    int status;

    if (path == NULL)
        return run_fail(failure, "out of memory; end other programs");
    o.output = path;
    o.again = number > 1;
    if (r->input >= 0)
        lseek(STDIN_FILENO, r->input, SEEK_SET);
    if (number > 1 && r->duration.count != 0 && strcmp(path, r->options->output) == 0 &&
        is_trace(path))
        unlink(path);
    status = once(&o, stopped, failure);
    if (status >= 0) {
        take(r, path);
        r->done++;
        if (status != 0 && r->failed++ == 0) {
            r->status = status;
            r->first_failed = number;
        }
    }
    free(path);
    return status;
}

static const char *words(char *out, bool time, double value)
{
    return time ? text_time(out, value) : text_count(out, (uint64_t)(value + 0.5));
}

static void print_row(const struct spread *s, bool time, const char *name, const char *note)
{
    char mean[TEXT_QUANTITY_BYTES], least[TEXT_QUANTITY_BYTES], most[TEXT_QUANTITY_BYTES];
    char safe[64];

    fprintf(stderr, "%20s  %7.2f %%  %20s  %20s  %-20s%s\n", words(mean, time, s->mean),
            deviation(s), words(least, time, s->least), words(most, time, s->most),
            text_escape(safe, sizeof safe, name), note);
}

/* The last run with a trace provides the names of the program and the events. */
static void print(const struct repeat *r, const char *path)
{
    static struct summary last;
    char safe[1024], room[16];

    if (r->duration.count == 0 || summary_from_file(path, &last) != 0)
        return;
    text_escape(safe, sizeof safe, trace_info_text(&last.info, "program.args", "unknown program"));
    fprintf(stderr, "\n Microtome: %u runs of %s\n\n%20s  %9s  %20s  %20s\n", r->done, safe, "mean",
            "deviation", "least", "most");
    for (uint32_t i = 0; i < last.info.event_count; i++)
        print_row(&r->events[i], false, trace_info_event_name(&last.info, i, room),
                  last.info.events[i].meta.source == HR_SOURCE_PMU
                      ? ""
                      : trace_info_source_words(&last.info, i));
    print_row(&r->duration, true, "duration",
              last.info.clock.method == HR_CLOCK_VIRTUAL ? "virtual time" : "");
    if (r->failed == 0)
        fprintf(stderr, "\n Exit: status 0\n");
    else
        fprintf(stderr, "\n Exit: status %d in run %u; %u of %u runs did not end with 0\n",
                r->status, r->first_failed, r->failed, r->done);
    fprintf(stderr, " Next: hr report %s (the last run)\n\n", text_escape(safe, sizeof safe, path));
    summary_free(&last);
}

int run_repeat(const struct options *o, run_repeat_once *once, struct run_failure *failure)
{
    struct repeat r = {.options = o};
    bool stopped = false;
    int status = prepare_input(&r, failure);
    char *path;

    for (uint32_t i = 1; i <= o->repeat && status >= 0 && !stopped; i++)
        status = run_number(&r, i, once, &stopped, failure);
    path = trace_name(o, r.done);
    if (path != NULL && !o->quiet && !o->dry_run)
        print(&r, path);
    free(path);
    return status < 0 ? -1 : r.status;
}
