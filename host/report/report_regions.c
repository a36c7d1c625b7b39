/* Prints a table and a small histogram for each region. */
#include "host/report/report_regions.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/draw/sparkline.h"
#include "host/metrics/metrics_show.h"
#include "host/scan/reader.h"
#include "host/trace/source_notes.h"

#define COLUMNS 32u /* of a histogram */

static int compare(const void *a, const void *b, void *context)
{
    const struct trace_region *x = a, *y = b;
    uint32_t key = *(const uint32_t *)context;
    uint64_t left = x->figures[key].sum, right = y->figures[key].sum;

    if (left != right)
        return left > right ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *figure_name(const struct trace_info *info, uint32_t key, char room[64])
{
    return key == TRACE_REGION_TIME ? "time" : trace_info_event_word(info, key, room);
}

/* Formats a value of a figure: a time, a count, or a mean below 100 with its fraction. */
static char *quantity(char *out, const struct trace_info *info, uint32_t key, double value)
{
    if (key == TRACE_REGION_TIME)
        return text_time(out, value * 1e9 / (double)info->clock.ticks_per_second);
    if (value < 100 && value != (double)(uint64_t)value)
        snprintf(out, TEXT_QUANTITY_BYTES, "%.2f", value);
    else
        text_count(out, value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX);
    return out;
}

static void print_figures(FILE *out, const struct trace_info *info,
                          const struct trace_region_figures *f, uint32_t key)
{
    const double values[] = {(double)f->sum / (double)f->passes, (double)f->min,
                             (double)trace_region_percentile(f, 0.50),
                             (double)trace_region_percentile(f, 0.99), (double)f->max};
    char text[TEXT_QUANTITY_BYTES], room[64], name[256];

    text_escape(name, sizeof name, figure_name(info, key, room));
    fprintf(out, "  %-24s %19s", name,
            key == TRACE_REGION_TIME ? quantity(text, info, key, (double)f->sum)
                                     : text_count(text, f->sum));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        fprintf(out, " %12s", quantity(text, info, key, values[i]));
    fputc('\n', out);
}

/* Sums the buckets in use, from the first to the last, into columns.  Returns their number. */
static uint32_t fill_columns(const struct trace_region_figures *f, double columns[COLUMNS],
                             uint32_t *first, uint32_t *last)
{
    uint32_t buckets, used;

    *first = UINT32_MAX;
    for (uint32_t i = 0; i < f->bucket_count; i++) {
        if (f->buckets[i] == 0)
            continue;
        if (*first == UINT32_MAX)
            *first = i;
        *last = i;
    }
    if (*first == UINT32_MAX)
        return 0;
    buckets = *last - *first + 1;
    used = buckets < COLUMNS ? buckets : COLUMNS;
    memset(columns, 0, COLUMNS * sizeof columns[0]);
    for (uint32_t i = 0; i < buckets; i++)
        columns[i * used / buckets] += (double)f->buckets[*first + i];
    return used;
}

/* Prints the buckets from the least value to the largest, with up to four columns per octave. */
static void print_histogram(FILE *out, const struct trace_info *info,
                            const struct trace_region_figures *f, uint32_t key)
{
    char from[TEXT_QUANTITY_BYTES], to[TEXT_QUANTITY_BYTES];
    double columns[COLUMNS], most = 0;
    uint32_t first, last = 0;
    uint32_t used = fill_columns(f, columns, &first, &last);

    if (used == 0)
        return;
    for (uint32_t i = 0; i < used; i++)
        most = columns[i] > most ? columns[i] : most;
    fprintf(out, "    %s |", quantity(from, info, key, (double)f->min));
    for (uint32_t i = 0; i < used; i++)
        fputs(columns[i] > 0 ? sparkline_bar(columns[i] / most) : " ", out);
    fprintf(out, "| %s\n", quantity(to, info, key, (double)f->max));
}

/* Of all passes together. */
static void print_metrics(FILE *out, const struct trace_info *info,
                          const struct trace_region *region, const struct metrics_choice *metrics)
{
    double seconds =
        (double)region->figures[TRACE_REGION_TIME].sum / (double)info->clock.ticks_per_second;
    uint64_t counts[HR_EVENTS_MAX];
    char title[METRICS_SHOW_TITLE_BYTES], value[METRICS_SHOW_BYTES];

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        counts[i] = region->figures[i].sum;
    for (uint32_t i = 0; i < metrics->count; i++)
        fprintf(out, "  %-24s %19s\n", metrics_show_title(title, metrics_chosen(metrics, i)),
                metrics_show_value(value, metrics_chosen_value(metrics, i, counts, seconds)));
}

static void print_region(FILE *out, const struct trace_info *info,
                         const struct trace_region *region, uint32_t key,
                         const struct metrics_choice *metrics)
{
    char number[TEXT_QUANTITY_BYTES], name[256];
    uint64_t passes = trace_region_passes(region);

    fprintf(out, "\n%s: %s pass%s by %u thread%s\n",
            text_escape(name, sizeof name, region->name[0] != 0 ? region->name : "(no name)"),
            text_count(number, passes), passes != 1 ? "es" : "", region->threads,
            region->threads == UINT16_MAX ? "s or more"
            : region->threads != 1        ? "s"
                                          : "");
    for (uint32_t i = 0; i < TRACE_REGION_FIGURES; i++) {
        uint32_t k = i == 0 ? TRACE_REGION_TIME : i - 1;

        if (region->figures[k].passes == 0)
            continue;
        print_figures(out, info, &region->figures[k], k);
        if (k == key)
            print_histogram(out, info, &region->figures[k], k);
    }
    print_metrics(out, info, region, metrics);
}

static void print_head(FILE *out, const struct trace_info *info, uint32_t key)
{
    static const char *const columns[] = {"mean", "min", "p50", "p99", "max"};
    char number[TEXT_QUANTITY_BYTES], safe[1024], room[64];

    fprintf(out, "# program: %s\n",
            text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    fprintf(out, "# %s region%s, most %s first; mean to max are of one pass\n",
            text_count(number, info->regions.count), info->regions.count != 1 ? "s" : "",
            text_escape(safe, sizeof safe, figure_name(info, key, room)));
    source_notes_print(out, info, SOURCE_NOTES_ALL, "");
    fprintf(out, "# %-24s %19s", "", "total");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fprintf(out, " %12s", columns[i]);
    fputc('\n', out);
}

void report_regions_print(FILE *out, struct trace_info *info, uint32_t key,
                          const struct metrics_choice *metrics, unsigned long limit)
{
    struct trace_regions *regions = &info->regions;
    size_t shown = reader_shown(regions->count, limit);

    if (regions->count == 0) {
        fputs("# no regions: the program names them with hr_region_begin() and hr_region_end()\n",
              out);
        return;
    }
    qsort_r(regions->all, regions->count, sizeof regions->all[0], compare, &key);
    print_head(out, info, key);
    for (size_t i = 0; i < shown; i++)
        print_region(out, info, &regions->all[i], key, metrics);
    if (shown < regions->count)
        fprintf(out, "# %zu more; --limit 0 shows all\n", regions->count - shown);
}
