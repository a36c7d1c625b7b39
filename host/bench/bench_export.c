/* Writes the figures of hr bench to files, as hyperfine names them: times are in seconds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/output.h"
#include "host/base/output_file.h"
#include "host/base/text.h"
#include "host/bench/bench_show.h"

#define NS 1e9
#define MARK_JSON "{\"benchmarks_of\":\"Microtome\""
#define MARK_CSV "command,mean,stddev,median,min,max,runs"
#define MARK_MARKDOWN "| Command | Time | Deviation"

static const char *const marks[] = {MARK_JSON, MARK_CSV, MARK_MARKDOWN};

static bool looks_alike(const uint8_t *bytes, size_t count, uint64_t file_bytes)
{
    (void)file_bytes;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (count >= strlen(marks[i]) && memcmp(bytes, marks[i], strlen(marks[i])) == 0)
            return true;
    return false;
}

static const char *value_of(const struct bench *b, const struct bench_job *job, size_t parameter)
{
    return bench_parameters_value(&b->parameters, parameter, job->combination);
}

static void json_events(struct output *out, const struct bench_job *job)
{
    char name[80];

    output_text(out, ",\"events\":{");
    for (uint32_t e = 0; e < job->first.event_count; e++) {
        const struct trial_spread *s = &job->events[e];

        snprintf(name, sizeof name, "%.64s", job->first.names[e]);
        output_json_print(out, e != 0 ? ",%s:{" : "%s:{", name);
        output_json_print(out, "\"mean\":%g,\"stddev\":%g,\"source\":%s,\"values\":[", s->mean,
                          s->deviation * s->mean, trace_info_source(job->first.sources[e]));
        for (uint32_t i = 0; i < job->run_count; i++)
            output_json_print(out, i != 0 ? ",%lu" : "%lu", job->runs[i].totals[e]);
        output_text(out, "]}");
    }
    output_text(out, "}");
}

static void json_job(struct output *out, const struct bench *b, const struct bench_job *job)
{
    const struct trial_spread *t = &job->time;

    output_json_print(out, "{\"command\":%s,\"mean\":%g,\"stddev\":%g,\"median\":%g,", job->text,
                      t->mean / NS, t->deviation * t->mean / NS, t->median / NS);
    output_json_print(out, "\"min\":%g,\"max\":%g,\"exact\":%d,\"times\":[",
                      (double)job->least_ns / NS, (double)job->most_ns / NS, job->first.exact);
    for (uint32_t i = 0; i < job->run_count; i++)
        output_json_print(out, i != 0 ? ",%g" : "%g", (double)job->runs[i].duration_ns / NS);
    output_text(out, "],\"exit_codes\":[");
    for (uint32_t i = 0; i < job->run_count; i++)
        output_json_print(out, i != 0 ? ",%u" : "%u", (unsigned)job->runs[i].status);
    output_text(out, "]");
    if (b->parameters.count != 0)
        output_text(out, ",\"parameters\":{");
    for (size_t i = 0; i < b->parameters.count; i++)
        output_json_print(out, i != 0 ? ",%s:%s" : "%s:%s", b->parameters.all[i].name,
                          value_of(b, job, i));
    if (b->parameters.count != 0)
        output_text(out, "}");
    json_events(out, job);
    output_text(out, "}");
}

static void put_json(struct output *out, const struct bench *b)
{
    bool next = false;

    output_text(out, MARK_JSON ",\"results\":[");
    for (size_t i = 0; i < b->job_count; i++) {
        if (b->jobs[i].run_count == 0)
            continue;
        output_text(out, next ? ",\n" : "\n");
        json_job(out, b, &b->jobs[i]);
        next = true;
    }
    output_text(out, "\n]}\n");
}

static void put_csv(struct output *out, const struct bench *b)
{
    const struct bench_job *fastest = bench_fastest(b);
    int events[2];

    output_text(out, MARK_CSV ",instructions,cycles,relative");
    for (size_t i = 0; i < b->parameters.count; i++)
        output_csv_print(out, ",parameter_%s", b->parameters.all[i].name);
    output_text(out, "\n");
    for (size_t i = 0; i < b->job_count; i++) {
        const struct bench_job *job = &b->jobs[i];
        const struct trial_spread *t = &job->time;
        double off;

        if (job->run_count == 0)
            continue;
        bench_show_events(job, events);
        output_csv_print(out, "%s,%g,%g,%g,%g,%g,%u", job->text, t->mean / NS,
                         t->deviation * t->mean / NS, t->median / NS, (double)job->least_ns / NS,
                         (double)job->most_ns / NS, job->run_count);
        for (int e = 0; e < 2; e++) {
            output_char(out, ',');
            if (events[e] >= 0)
                output_decimal(out, (uint64_t)llround(job->events[events[e]].mean));
        }
        output_csv_print(out, ",%g", bench_relative(job, fastest, &off));
        for (size_t k = 0; k < b->parameters.count; k++)
            output_csv_print(out, ",%s", value_of(b, job, k));
        output_text(out, "\n");
    }
}

static void put_markdown(struct output *out, const struct bench *b)
{
    const struct bench_job *fastest = bench_fastest(b);
    char command[2048], line[400], mean[TEXT_QUANTITY_BYTES], deviation[TEXT_QUANTITY_BYTES];
    char least[TEXT_QUANTITY_BYTES], most[TEXT_QUANTITY_BYTES], counts[2][TEXT_QUANTITY_BYTES];

    output_text(out, MARK_MARKDOWN " | Min | Max | Instructions | Cycles | Relative |\n"
                                   "|:---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < b->job_count; i++) {
        const struct bench_job *job = &b->jobs[i];
        int events[2];
        double off;

        if (job->run_count == 0)
            continue;
        bench_show_events(job, events);
        for (int e = 0; e < 2; e++)
            if (events[e] >= 0)
                text_count(counts[e], (uint64_t)llround(job->events[events[e]].mean));
            else
                strcpy(counts[e], "-");
        output_text(out, "| ");
        output_text(out, text_code(command, sizeof command, job->text, true));
        snprintf(line, sizeof line, " | %s | %s | %s | %s | %s | %s | %.2f |\n",
                 text_time(mean, job->time.mean),
                 text_time(deviation, job->time.deviation * job->time.mean),
                 text_time(least, (double)job->least_ns), text_time(most, (double)job->most_ns),
                 counts[0], counts[1], bench_relative(job, fastest, &off));
        output_text(out, line);
    }
}

static const struct format {
    const char *ending;
    void (*put)(struct output *out, const struct bench *b);
} formats[] = {{".json", put_json}, {".csv", put_csv}, {".md", put_markdown}};

static const struct format *format_of(const char *path)
{
    size_t bytes = strlen(path);

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t ending = strlen(formats[i].ending);

        if (bytes > ending && strcmp(path + bytes - ending, formats[i].ending) == 0)
            return &formats[i];
    }
    return NULL;
}

bool bench_export_is_known(const char *path)
{
    return format_of(path) != NULL;
}

int bench_export(const struct bench *b, const char *path, bool force, struct run_failure *failure)
{
    const struct output_file_wish wish = {
        .kind = OUTPUT_EXPORT, .force = force, .looks_alike = looks_alike};
    struct output *out = malloc(sizeof *out);
    struct output_file file;
    int error;

    if (out == NULL)
        return run_fail(failure, "out of memory; end other programs");
    if (output_file_open(&file, path, &wish, failure) != 0) {
        free(out);
        return -1;
    }
    output_init(out, file.fd);
    format_of(path)->put(out, b);
    error = output_flush(out);
    if (error != 0)
        run_fail(failure, "%s: %s; free some space or write elsewhere", file.name,
                 strerror(-error));
    free(out);
    return output_file_finish(&file, error == 0, failure) != 0 || error != 0 ? -1 : 0;
}
