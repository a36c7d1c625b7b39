/* The table of hr bench. */
#include "host/bench/bench_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "host/base/text.h"

#define NAME_WIDTH 32
#define OUTLIERS_SHOWN 5u

void bench_show_events(const struct bench_job *job, int events[2])
{
    static const char *const names[2] = {"instructions", "cycles"};

    for (int i = 0; i < 2; i++) {
        events[i] = trial_totals_find(&job->first, names[i]);
        if (events[i] >= 0 && (job->first.sources[events[i]] == HR_SOURCE_STUB ||
                               job->first.sources[events[i]] == HR_SOURCE_NONE))
            events[i] = -1;
    }
}

/* Deviations of quotients add up as squares of shares. */
double bench_relative(const struct bench_job *job, const struct bench_job *fastest,
                      double *deviation)
{
    double ratio = fastest->time.mean > 0 ? job->time.mean / fastest->time.mean : 1;

    *deviation = job == fastest ? 0 : ratio * hypot(job->time.deviation, fastest->time.deviation);
    return ratio;
}

static void print_titles(FILE *out, const struct bench *b, size_t width)
{
    bool exact = true;

    for (size_t i = 0; i < b->job_count; i++)
        exact &= b->jobs[i].run_count == 0 || b->jobs[i].first.exact;
    if (exact)
        fprintf(out, "# in virtual time: an instruction is 1 ns, and another run is equal\n");
    fprintf(out, "%-*s %5s %11s %11s %11s %11s %16s %16s %9s\n", (int)width, "command", "runs",
            "time", "deviation", "least", "most", "instructions", "cycles", "relative");
}

static void print_job(FILE *out, const struct bench *b, const struct bench_job *job, size_t width)
{
    char name[512], mean[TEXT_QUANTITY_BYTES], deviation[TEXT_QUANTITY_BYTES];
    char least[TEXT_QUANTITY_BYTES], most[TEXT_QUANTITY_BYTES], counts[2][TEXT_QUANTITY_BYTES];
    double off, relative = bench_relative(job, bench_fastest(b), &off);
    int events[2];

    bench_show_events(job, events);
    for (int i = 0; i < 2; i++)
        if (events[i] >= 0)
            text_count(counts[i], (uint64_t)llround(job->events[events[i]].mean));
        else
            strcpy(counts[i], "-");
    fprintf(out, "%-*s %5" PRIu32 " %11s %11s %11s %11s %16s %16s %9.2f\n", (int)width,
            text_escape(name, sizeof name, job->text), job->run_count,
            text_time(mean, job->time.mean),
            text_time(deviation, job->time.deviation * job->time.mean),
            text_time(least, (double)job->least_ns), text_time(most, (double)job->most_ns),
            counts[0], counts[1], relative);
}

/* "1.73 +- 0.05 times as fast as ./b" for each of the others, the nearest first. */
static void print_summary(FILE *out, const struct bench *b)
{
    const struct bench_job *fastest = bench_fastest(b);
    char name[512], off_text[32];
    double last = 0;

    fprintf(out, "\n%s ran\n", text_escape(name, sizeof name, fastest->text));
    for (;;) {
        const struct bench_job *next = NULL;
        double deviation, relative = 0;

        for (size_t i = 0; i < b->job_count; i++)
            if (&b->jobs[i] != fastest && b->jobs[i].run_count != 0 &&
                b->jobs[i].time.mean > last &&
                (next == NULL || b->jobs[i].time.mean < next->time.mean))
                next = &b->jobs[i];
        if (next == NULL)
            break;
        last = next->time.mean;
        for (size_t i = 0; i < b->job_count; i++) {
            const struct bench_job *job = &b->jobs[i];

            if (job == fastest || job->run_count == 0 || job->time.mean != last)
                continue;
            relative = bench_relative(job, fastest, &deviation);
            off_text[0] = 0;
            if (!job->first.exact)
                snprintf(off_text, sizeof off_text, " +- %.2f", deviation);
            fprintf(out, "  %.2f%s times as fast as %s\n", relative, off_text,
                    text_escape(name, sizeof name, job->text));
        }
    }
}

/* Names the runs that took much longer or shorter than the others. */
static void print_outliers(FILE *out, const struct bench_job *job)
{
    char name[512], time[TEXT_QUANTITY_BYTES];
    size_t shown = 0;

    if (job->time.outliers == 0)
        return;
    fprintf(out, "# outliers of %s:", text_escape(name, sizeof name, job->text));
    for (uint32_t i = 0; i < job->run_count && shown < OUTLIERS_SHOWN; i++) {
        double ns = (double)job->runs[i].duration_ns;

        if (fabs(ns - job->time.median) > job->time.outlier_distance)
            fprintf(out, "%s run %" PRIu32 " (%s)", shown++ != 0 ? "," : "", i + 1,
                    text_time(time, ns));
    }
    if (job->time.outliers > shown)
        fprintf(out, " and %zu more", job->time.outliers - shown);
    fprintf(out, "; other work on the machine, or caches that were not warm (--warmup)\n");
}

static void print_failures(FILE *out, const struct bench_job *job)
{
    char name[512];
    uint32_t failed = 0, first = 0;

    for (uint32_t i = 0; i < job->run_count; i++)
        if (job->runs[i].status != 0 && failed++ == 0)
            first = i;
    if (failed != 0)
        fprintf(out,
                "# %s: %" PRIu32 " of %" PRIu32 " runs failed; run %" PRIu32
                " ended with status %d\n",
                text_escape(name, sizeof name, job->text), failed, job->run_count, first + 1,
                job->runs[first].status);
}

void bench_show(FILE *out, const struct bench *b)
{
    size_t width = 7, measured = 0;

    for (size_t i = 0; i < b->job_count; i++) {
        measured += b->jobs[i].run_count != 0;
        if (strlen(b->jobs[i].text) > width)
            width = strlen(b->jobs[i].text);
    }
    print_titles(out, b, width < NAME_WIDTH ? width : NAME_WIDTH);
    for (size_t i = 0; i < b->job_count; i++)
        if (b->jobs[i].run_count != 0)
            print_job(out, b, &b->jobs[i], width < NAME_WIDTH ? width : NAME_WIDTH);
    for (size_t i = 0; i < b->job_count; i++) {
        print_outliers(out, &b->jobs[i]);
        print_failures(out, &b->jobs[i]);
    }
    if (measured > 1)
        print_summary(out, b);
}
