/* Prints distributions: figures and bars, csv, JSON. */
#include "host/hist/hist_print.h"

#include "host/base/text.h"
#include "lib/array.h"

#define ROWS 24u /* ranges that are drawn */

static const struct {
    const char *name;
    const char *key; /* in JSON */
    double share;
} percentiles[] = {
    {"p50", "p50", 0.5}, {"p90", "p90", 0.9}, {"p99", "p99", 0.99}, {"p99.9", "p999", 0.999}};

uint64_t hist_quantity(const struct hist *hist, const struct hist_subject *subject, uint64_t value)
{
    return hist_is_time(subject) ? trace_info_ns(hist->info, value) : value;
}

static char *quantity(char out[TEXT_QUANTITY_BYTES], const struct hist *hist,
                      const struct hist_subject *subject, uint64_t value)
{
    uint64_t shown = hist_quantity(hist, subject, value);

    return hist_is_time(subject) ? text_time(out, (double)shown) : text_count(out, shown);
}

static double mean_of(const struct hist *hist, const struct hist_subject *subject)
{
    double mean = (double)subject->sum / (double)subject->values.count;

    return hist_is_time(subject) ? mean * 1e9 / (double)hist->info->clock.ticks_per_second : mean;
}

static void print_figures(FILE *out, const struct hist *hist, const struct hist_subject *subject)
{
    double mean = mean_of(hist, subject);
    char text[TEXT_QUANTITY_BYTES];

    fprintf(out, "  %-7s %14s\n", "min", quantity(text, hist, subject, subject->least));
    if (hist_is_time(subject))
        text_time(text, mean);
    else
        snprintf(text, sizeof text, "%.*f", mean < 100 ? 3 : 1, mean);
    fprintf(out, "  %-7s %14s\n", "mean", text);
    for (size_t i = 0; i < ARRAY_COUNT(percentiles); i++)
        fprintf(out, "  %-7s %14s\n", percentiles[i].name,
                quantity(text, hist, subject,
                         histogram_percentile(&subject->values, percentiles[i].share)));
    fprintf(out, "  %-7s %14s\n", "max", quantity(text, hist, subject, subject->values.largest));
}

/* Eighths of a column make the last character. */
static void print_bar(FILE *out, double share, unsigned columns)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned units = (unsigned)(share * columns * 8 + 0.5);

    if (units == 0 && share > 0)
        units = 1;
    for (unsigned i = 0; i < units / 8; i++)
        fputs("█", out);
    fputs(eighths[units % 8], out);
}

static void print_bars(FILE *out, const struct hist *hist, const struct hist_subject *subject,
                       unsigned columns)
{
    struct hist_range ranges[HIST_RANGES_MAX];
    uint32_t count = hist_ranges(subject, ranges, ROWS);
    char from[TEXT_QUANTITY_BYTES], number[TEXT_QUANTITY_BYTES];
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = ranges[i].count > most ? ranges[i].count : most;
    fprintf(out, "  %14s %13s\n", "from", "count");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t empty = 0; /* the last range is not */

        while (ranges[i + empty].count == 0)
            empty++;
        if (empty > 2) {
            fprintf(out, "  %14s\n", "...");
            i += empty;
        }
        fprintf(out, "  %14s %13s ", quantity(from, hist, subject, ranges[i].from),
                text_count(number, ranges[i].count));
        print_bar(out, (double)ranges[i].count / (double)most, columns > 32 ? columns - 32 : 1);
        fputc('\n', out);
    }
}

static void print_title(FILE *out, const struct hist *hist, const struct hist_subject *subject)
{
    static const char *const titles[] = {
        [HIST_INTERVAL] = "time between samples",
        [HIST_COST] = "time to read a sample",
        [HIST_LATENESS] = "time from when a sample was due until it was taken",
        [HIST_SYSCALL] = "time in a system call",
        [HIST_GAP] = "time in which the program did not run",
        [HIST_EVENT] = "rise of the counter up to a sample",
    };
    char number[TEXT_QUANTITY_BYTES], safe[256];

    fprintf(out, "%s: %s, %s values", text_escape(safe, sizeof safe, subject->name),
            titles[subject->kind], text_count(number, subject->values.count));
    if (subject->kind == HIST_EVENT &&
        hist->info->events[subject->number].meta.source != HR_SOURCE_PMU)
        fprintf(out, " (%s)", trace_info_source_words(hist->info, subject->number));
    fputc('\n', out);
}

void hist_print(FILE *out, const struct hist *hist, unsigned columns)
{
    char safe[1024];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(hist->info, "program.args", "unknown")));
    for (uint32_t i = 0; i < hist->subject_count; i++) {
        const struct hist_subject *subject = &hist->subjects[i];

        if (i != 0)
            fputc('\n', out);
        print_title(out, hist, subject);
        if (subject->values.count == 0)
            continue;
        print_figures(out, hist, subject);
        print_bars(out, hist, subject, columns);
    }
}

static const char *unit_of(const struct hist_subject *subject)
{
    return hist_is_time(subject) ? "ns" : "events";
}

/* The largest value of a bucket that was met, as far as is known. */
static uint64_t bucket_last(const struct hist_subject *subject, uint32_t bucket)
{
    uint64_t last =
        bucket + 1 < HISTOGRAM_BUCKETS ? histogram_bucket_value(bucket + 1) - 1 : UINT64_MAX;

    return last < subject->values.largest ? last : subject->values.largest;
}

void hist_rows_csv(struct output *out, const struct hist *hist)
{
    output_text(out, "of,unit,from,to,count\n");
    for (uint32_t s = 0; s < hist->subject_count; s++) {
        const struct hist_subject *subject = &hist->subjects[s];

        for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
            if (subject->values.buckets[i] == 0)
                continue;
            output_csv_print(out, "%s,%s,%lu,%lu,%lu\n", subject->name, unit_of(subject),
                             hist_quantity(hist, subject, histogram_bucket_value(i)),
                             hist_quantity(hist, subject, bucket_last(subject, i)),
                             subject->values.buckets[i]);
        }
    }
}

static void put_buckets(struct output *out, const struct hist *hist,
                        const struct hist_subject *subject)
{
    bool first = true;

    output_text(out, ",\"buckets\":[");
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (subject->values.buckets[i] == 0)
            continue;
        output_text(out, first ? "" : ",");
        output_json_print(out, "{\"from\":%lu,\"to\":%lu,\"count\":%lu}",
                          hist_quantity(hist, subject, histogram_bucket_value(i)),
                          hist_quantity(hist, subject, bucket_last(subject, i)),
                          subject->values.buckets[i]);
        first = false;
    }
    output_char(out, ']');
}

static void put_subject(struct output *out, const struct hist *hist,
                        const struct hist_subject *subject)
{
    output_json_print(out, "{\"of\":%s,\"unit\":%s", subject->name, unit_of(subject));
    if (subject->kind == HIST_EVENT)
        output_json_print(out, ",\"source\":%s",
                          trace_info_source(hist->info->events[subject->number].meta.source));
    output_json_print(out, ",\"count\":%lu", subject->values.count);
    if (subject->values.count != 0) {
        output_json_print(out, ",\"min\":%lu,\"mean\":%g",
                          hist_quantity(hist, subject, subject->least), mean_of(hist, subject));
        for (size_t i = 0; i < ARRAY_COUNT(percentiles); i++)
            output_json_print(
                out, ",%s:%lu", percentiles[i].key,
                hist_quantity(hist, subject,
                              histogram_percentile(&subject->values, percentiles[i].share)));
        output_json_print(out, ",\"max\":%lu",
                          hist_quantity(hist, subject, subject->values.largest));
    }
    put_buckets(out, hist, subject);
    output_char(out, '}');
}

void hist_rows_json(struct output *out, const struct hist *hist)
{
    output_char(out, '[');
    for (uint32_t i = 0; i < hist->subject_count; i++) {
        output_text(out, i != 0 ? ",\n" : "");
        put_subject(out, hist, &hist->subjects[i]);
    }
    output_text(out, "]\n");
}
