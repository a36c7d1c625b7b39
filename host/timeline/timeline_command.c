/* hr timeline: rates over time. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/option.h"
#include "host/base/text.h"
#include "host/draw/sparkline.h"
#include "host/scan/reader.h"
#include "host/scan/reader_output.h"
#include "host/timeline/timeline_print.h"

#define ROWS_BINS 1000u /* of csv and JSON, unless --bin says otherwise */
#define LINE_BYTES_MAX 4096u

enum { KEY_PER = 256, KEY_LINE_BYTES, KEY_BANDWIDTH, KEY_METRIC };

struct options {
    struct reader reader;
    const char *events[HR_EVENTS_MAX];
    uint32_t event_count; /* 0: all */
    uint64_t bin_ns; /* 0: as suits the output */
    uint64_t line_bytes;
    bool bandwidth;
    const char *metric; /* a list; NULL: none */
    struct metrics_choice metrics;
    enum timeline_per per;
    struct timeline timeline;
    unsigned columns;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'b', OPTION_TIME, .offset = offsetof(struct options, bin_ns), "bin",
         "not a time; give it with a unit, such as 10us", .least = 1},
        {KEY_LINE_BYTES, OPTION_BYTES, .offset = offsetof(struct options, line_bytes), "line-bytes",
         "not the size of a cache line; most have 64 bytes", 1, LINE_BYTES_MAX},
        {KEY_METRIC, OPTION_TEXT, .offset = offsetof(struct options, metric)},
        {KEY_BANDWIDTH, OPTION_FLAG, .offset = offsetof(struct options, bandwidth)},
        {0},
    };
    struct options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    switch (key) {
    case 'e':
        if (options->event_count == HR_EVENTS_MAX)
            argp_error(state, "--event %s: a trace has %u events at most", argument, HR_EVENTS_MAX);
        options->events[options->event_count++] = argument;
        return 0;
    case KEY_PER:
        if (strcmp(argument, "cpu") == 0)
            options->per = TIMELINE_PER_CPU;
        else if (strcmp(argument, "thread") == 0)
            options->per = TIMELINE_PER_THREAD;
        else if (strcmp(argument, "process") == 0)
            options->per = TIMELINE_PER_PROCESS;
        else
            argp_error(state, "--per %s: choose cpu, thread or process", argument);
        return 0;
    default:
        return reader_parse(key, argument, state);
    }
}

static int read_trace(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    const struct timeline_wish wish = {
        .per = options->per,
        .bin_ns = options->bin_ns,
        .bins = reader->format == READER_TABLE ? timeline_print_bars(options->columns) : ROWS_BINS};
    char number[TEXT_QUANTITY_BYTES];
    int result = timeline_read(&options->timeline, &reader->scan, &wish);

    if (result != -E2BIG)
        return result;
    return error_exit(
        HR_EXIT_USAGE,
        "--bin: too many bins for memory; give %s or more, or a part of the trace with "
        "--from and --to",
        text_time(number, (double)timeline_bin_least(&options->timeline)));
}

/* The events that were asked for, a bit each; 0 when there is no such event. */
static uint32_t wanted_events(const struct options *options, const struct trace_info *info)
{
    uint32_t events = 0;

    for (uint32_t i = 0; i < options->event_count; i++) {
        int event = reader_event(info, options->events[i]);

        if (event < 0)
            return 0;
        events |= 1u << event;
    }
    return options->event_count != 0 ? events : (1u << HR_EVENTS_MAX) - 1;
}

static int print(const struct timeline_rates *rates, enum reader_format format, unsigned columns)
{
    struct output *out;

    if (format == READER_TABLE) {
        timeline_print(stdout, rates, columns);
        return HR_EXIT_OK;
    }
    out = reader_output_open();
    (format == READER_CSV ? timeline_rows_csv : timeline_rows_json)(out, rates);
    return reader_output_close(out);
}

static int choose_metrics(struct options *options, struct timeline_rates *rates)
{
    struct run_failure failure = {0};

    if (options->event_count != 0 || options->bandwidth)
        return error_exit(HR_EXIT_USAGE, "--metric, --bandwidth and --event: one at a time");
    if (metrics_choose_of(&options->metrics, options->timeline.info, options->metric, true,
                          &failure) != 0)
        return error_exit(HR_EXIT_FAILED, "%s", failure.text);
    timeline_rates_init_metrics(rates, &options->timeline, &options->metrics);
    return 0;
}

static int choose_rates(struct options *options, struct timeline_rates *rates)
{
    const struct timeline *t = &options->timeline;
    const char *path = options->reader.path;
    uint32_t events, line_bytes = (uint32_t)options->line_bytes;
    bool stubs = t->event_count != 0;

    if (options->metric != NULL)
        return choose_metrics(options, rates);
    if (!options->bandwidth) {
        events = wanted_events(options, t->info);
        timeline_rates_init(rates, t, events, line_bytes);
        return events != 0 ? 0 : HR_EXIT_USAGE;
    }
    if (options->event_count != 0)
        return error_exit(HR_EXIT_USAGE, "--bandwidth chooses the events; leave out --event");
    if (timeline_rates_init_traffic(rates, t, line_bytes) == 0)
        return 0;
    for (uint32_t i = 0; i < t->event_count; i++)
        stubs = stubs && t->info->events[i].meta.source != HR_SOURCE_PMU &&
                t->info->events[i].meta.source != HR_SOURCE_MSR;
    if (stubs)
        return error_exit(HR_EXIT_FAILED,
                          "--bandwidth: %s has stubs instead of counts of events; it needs a "
                          "machine with counters",
                          path);
    return error_exit(HR_EXIT_FAILED,
                      "--bandwidth: no event of %s counts lines from memory; record some with "
                      "'hr run -e @bandwidth'",
                      path);
}

static int present(struct reader *reader)
{
    struct options *options = (struct options *)reader;
    struct timeline_rates rates;
    int status;

    if (options->timeline.group_count == 0)
        return reader_nothing(&reader->scan, reader->path, options->timeline.last);
    status = choose_rates(options, &rates);
    if (status != 0)
        return status;
    status = print(&rates, reader->format, options->columns);
    reader_warn(&reader->scan, reader->path, NULL);
    return status;
}

static void free_timeline(struct reader *reader)
{
    struct options *options = (struct options *)reader;

    timeline_free(&options->timeline);
    free(options->metrics.metrics);
}

int timeline_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"bin", 'b', "TIME", 0, "Length of a bin, such as 10us; default: as many as fit", 0},
        {"per", KEY_PER, "WHAT", 0, "Rates of each cpu (default), thread or process", 0},
        {"event", 'e', "NAME", 0, "Only this event's rates; may be repeated", 0},
        {"bandwidth", KEY_BANDWIDTH, 0, 0,
         "Bytes between each CPU and memory, from the events of hr run -e @bandwidth", 0},
        {"metric", KEY_METRIC, "LIST", 0,
         "Metrics instead, such as IPC,branch_mpki or @tma1: 'hr stat --metrics' lists those of "
         "the "
         "trace",
         0},
        {"line-bytes", KEY_LINE_BYTES, "N", 0, "Size of a cache line (default 64)", 0},
        {"format", 'f', "FORMAT", 0, "table (default), csv or json", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .children = reader_part,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Show how rates change over a run (trace: default hr.bin)."
               "\vWhat a sample counted is split over the time since the sample before on that "
               "CPU, as far as the CPU ran a thread, so that the bins add up to the total.  Bytes "
               "are those of the lines that an event of misses or fills of a cache counts.\n\n"
               "Examples:\n"
               "  hr timeline                               a picture of hr.bin\n"
               "  hr timeline --bin 10us --from 2ms --to 3ms\n"
               "  hr timeline --per thread --event LLC-misses\n"
               "  hr timeline --bandwidth                   of hr run -e @bandwidth PROGRAM\n"
               "  hr timeline --metric @tma1                of hr run -e @tma1 PROGRAM\n"
               "  hr timeline --bin 100us --format csv run.bin > rates.csv\n",
    };
    static const struct reader_command command = {read_trace, present, free_timeline};
    struct options options = {.line_bytes = TIMELINE_LINE_BYTES, .columns = sparkline_columns()};

    reader_command_line(&options.reader, &argp, argc, argv);
    return reader_run(&options.reader, &command);
}
