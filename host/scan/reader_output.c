/* Ends of commands that print tables or rows. */
#include "host/scan/reader_output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/scan/reader.h"

int reader_event(const struct trace_info *info, const char *name)
{
    char names[TRACE_INFO_NAMES_BYTES];
    int event = trace_info_find_event(info, name);

    if (event < 0 && info->event_count == 0)
        error_print("--event %s: the trace has no events", name);
    else if (event < 0)
        error_print("--event %s: the trace has no such event; it has %s", name,
                    trace_info_event_names(info, names) + 2);
    return event;
}

int reader_event_in(const char *path, const char *name)
{
    struct trace_scan scan;
    int event = -1, error;

    if (name == NULL || strcmp(name, "samples") == 0)
        return 0;
    error = trace_scan_open(&scan, path);
    if (error == 0) {
        error = trace_scan_info(&scan);
        if (error >= 0)
            event = reader_event(&scan.info, name);
        trace_scan_close(&scan);
    }
    if (error < 0)
        reader_fail(path, error);
    return event >= 0 ? 0 : -1;
}

void reader_print_failure(int error)
{
    error_print("standard output: %s; free some space or write elsewhere", strerror(-error));
}

struct output *reader_output_open(void)
{
    static struct output out; /* too large for the stack; a command has one */

    output_init(&out, STDOUT_FILENO);
    return &out;
}

int reader_output_close(struct output *out)
{
    int error = output_flush(out);

    if (error != 0 && error != -EPIPE)
        reader_print_failure(error);
    return error == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
}

static void say_written(const char *name, const char *kind, const char *opener)
{
    char bytes[TEXT_QUANTITY_BYTES];
    struct stat status;

    if (name != NULL && isatty(STDERR_FILENO) && stat(name, &status) == 0)
        error_print("wrote %s: %s, %s; opens in %s", name,
                    text_bytes(bytes, (uint64_t)status.st_size), kind, opener);
}

int reader_output_finish(struct output_file *file, int status, const char *kind, const char *opener)
{
    struct run_failure failure = {0};
    char *name = file->path != NULL ? strdup(file->name) : NULL; /* else it is a stream */

    if (output_file_finish(file, status == HR_EXIT_OK, &failure) != 0) {
        error_print("%s", failure.text);
        status = HR_EXIT_FAILED;
    } else if (status == HR_EXIT_OK) {
        say_written(name, kind, opener);
    }
    free(name);
    return status;
}

void reader_warn(const struct trace_scan *scan, const char *path, const char *shown)
{
    if (!scan->partial && !trace_audit_complete(&scan->audit))
        error_print("%s: incomplete, %s; 'hr check %s' says what is missing", path,
                    shown != NULL ? shown : "this is what is there", path);
}

/* The run was over, or sampling paused, before the first sample was due. */
static void say_trigger(const struct trace_info *info, char *text, size_t room)
{
    double interval_ns = (double)trace_info_interval_ns(info);
    double ran_ns = info->has_exit ? (double)trace_info_time_ns(info, info->exit.time) : INFINITY;
    char ran[TEXT_QUANTITY_BYTES], interval[TEXT_QUANTITY_BYTES], word[64];
    uint64_t period = info->sampling.period_events;

    if (interval_ns != 0 && ran_ns < interval_ns)
        snprintf(text, room,
                 "the run took %s, less than the interval of %s; choose a shorter one with 'hr run "
                 "-i'",
                 text_time(ran, ran_ns), text_time(interval, interval_ns));
    else if ((info->sampling.flags & HR_SAMPLING_PAUSED) != 0)
        snprintf(text, room,
                 "--paused samples only from the program's hr_start() on, which it did not call, "
                 "or no interval before its end or hr_pause()");
    else if (period != 0 && info->event_count != 0)
        snprintf(text, room, "%s did not occur %s times; choose a shorter period with 'hr run -c'",
                 trace_info_event_word(info, 0, word), text_count(interval, period));
    else if (interval_ns != 0)
        snprintf(text, room,
                 "no sample was due while the program ran on a CPU; choose a shorter interval with "
                 "'hr run -i'");
    else
        snprintf(text, room, "the program ended before the first one was due");
}

char *reader_no_samples(const struct trace_scan *scan, char *text, size_t room)
{
    const struct trace_info *info = &scan->info;
    char lost[TEXT_QUANTITY_BYTES];

    if (scan->audit.lost != 0)
        snprintf(text, room, "all %s were lost; 'hr stat' says why",
                 text_count(lost, scan->audit.lost));
    else if (!trace_audit_complete(&scan->audit))
        snprintf(text, room, "the trace is incomplete; 'hr check' says what is missing");
    else if (info->sampling.mode == HR_MODE_OFF)
        snprintf(text, room, "mode off takes none; run it in another --mode");
    else if (info->sampling.mode == HR_MODE_LATENCY)
        snprintf(text, room, "mode latency records calls; 'hr latency' shows them");
    else if (info->sampling.mode == HR_MODE_INSTRUCTED)
        snprintf(text, room,
                 "mode instructed takes one where the program calls hr_poll(), and it did not");
    else
        say_trigger(info, text, room);
    return text;
}

int reader_nothing(const struct trace_scan *scan, const char *path, uint64_t last)
{
    char why[READER_WHY_BYTES];

    if (!selection_is_all(&scan->selection))
        return reader_nothing_selected(path, trace_info_time_ns(&scan->info, last));
    return error_exit(HR_EXIT_FAILED, "%s: no samples: %s", path,
                      reader_no_samples(scan, why, sizeof why));
}
