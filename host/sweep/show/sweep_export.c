/* hr sweep export: the files of autoperf, for scripts that read them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/output.h"
#include "host/sweep/show/sweep_show.h"

struct file { /* a CSV file of the folder */
    struct output output;
    char path[4096];
    const struct sweep_data *data;
};

static bool is_exported(const struct sweep_measured *e)
{
    return e->spread.count != 0;
}

static void put_average(struct output *out, const char *name)
{
    char text[128];

    snprintf(text, sizeof text, "AVG.%.120s", name);
    output_csv_text(out, text);
}

/* A row for each event: what was counted together does not matter here, every event has all parts.
 */
static void put_perf(struct file *f)
{
    const struct sweep_data *d = f->data;

    output_text(&f->output, "command,event_names,perf_events,breakpoints,datafile,perf_command,"
                            "stdout,stdin\n");
    for (size_t i = 0; i < d->event_count; i++)
        if (is_exported(&d->events[i]))
            output_csv_print(&f->output, "%s,%s,%s,,results.csv,hr sweep,,\n", d->program,
                             d->events[i].name, d->events[i].name);
}

/* The time of a part is its end, as perf stat says it. */
static void put_results(struct file *f)
{
    const struct sweep_data *d = f->data;

    output_text(&f->output, "EVENT_NAME,INDEX,TIME,SOCKET,CORE,CPU,NODE,UNIT,SAMPLE_VALUE\n");
    for (size_t i = 0; i < d->event_count; i++) {
        double end_ns = 0;

        for (size_t part = 0; part < d->bins && is_exported(&d->events[i]); part++) {
            end_ns += d->times[part];
            output_csv_print(&f->output, "%s,%lu,%g,0,0,0,0,cpu,%g\n", d->events[i].name, part,
                             end_ns / 1e9, d->events[i].series[part]);
        }
    }
}

static void put_series(struct file *f)
{
    const struct sweep_data *d = f->data;

    output_text(&f->output, "INDEX");
    for (size_t i = 0; i < d->event_count; i++)
        if (is_exported(&d->events[i])) {
            output_char(&f->output, ',');
            put_average(&f->output, d->events[i].name);
        }
    for (size_t part = 0; part < d->bins; part++) {
        output_char(&f->output, '\n');
        output_decimal(&f->output, part);
        for (size_t i = 0; i < d->event_count; i++)
            if (is_exported(&d->events[i]))
                output_csv_print(&f->output, ",%g", d->events[i].series[part]);
    }
    output_char(&f->output, '\n');
}

/* Without events that are always 0, as autoperf's. */
static void put_matrix(struct file *f)
{
    const struct sweep_data *d = f->data;
    size_t parts = sweep_whole_parts(d);

    for (size_t i = 0; i < d->event_count; i++)
        if (sweep_data_counted(&d->events[i])) {
            output_char(&f->output, ',');
            put_average(&f->output, d->events[i].name);
        }
    for (size_t i = 0; i < d->event_count; i++) {
        if (!sweep_data_counted(&d->events[i]))
            continue;
        output_char(&f->output, '\n');
        put_average(&f->output, d->events[i].name);
        for (size_t j = 0; j < d->event_count; j++)
            if (sweep_data_counted(&d->events[j]))
                output_csv_print(
                    &f->output, ",%g",
                    i == j ? 1
                           : trial_correlation(d->events[i].series, d->events[j].series, parts));
    }
    output_char(&f->output, '\n');
}

static int write_file(struct file *f, const char *folder, const char *name,
                      void (*put)(struct file *f))
{
    int fd, error;

    snprintf(f->path, sizeof f->path, "%.3900s/%s", folder, name);
    fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_exit(HR_EXIT_FAILED, "cannot write '%s': %s", f->path, strerror(errno));
    output_init(&f->output, fd);
    put(f);
    error = output_flush(&f->output);
    if (close(fd) != 0 && error == 0)
        error = -errno;
    if (error == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "cannot write '%s': %s", f->path, strerror(-error));
}

int sweep_export(const struct sweep_data *data, const char *folder)
{
    static const struct {
        const char *name;
        void (*put)(struct file *f);
    } files[] = {{"perf.csv", put_perf},
                 {"results.csv", put_results},
                 {"timeseries.csv", put_series},
                 {"correlation_matrix.csv", put_matrix}};
    struct file *f = malloc(sizeof *f);
    int status = HR_EXIT_OK;

    if (f == NULL)
        return error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        status =
            error_exit(HR_EXIT_FAILED, "cannot make the folder '%s': %s", folder, strerror(errno));
    f->data = data;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == HR_EXIT_OK; i++)
        status = write_file(f, folder, files[i].name, files[i].put);
    free(f);
    return status;
}
