/* Draws the distribution of intervals, and how long system calls and gaps take. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/hist/hist.h"
#include "host/hist/hist_print.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"

#define TOP 44.0
#define BOTTOM 300.0
#define HEIGHT 348.0
#define BARS 60u

struct reading {
    struct trace_scan scan;
    struct hist *hist;
};

static int read_trace(struct plot_options *options, struct reading *r, const char *const *of,
                      size_t count)
{
    struct trace_visitor visitor = hist_visitor;
    int error = plot_open(options, &r->scan);

    r->hist = NULL;
    if (error != 0)
        return error;
    r->hist = malloc(sizeof *r->hist);
    error = r->hist != NULL ? hist_init(r->hist, &r->scan) : -ENOMEM;
    for (size_t i = 0; i < count && error == 0; i++)
        error = hist_add(r->hist, of[i]);
    visitor.context = r->hist;
    if (error == 0)
        error = trace_scan_run(&r->scan, &visitor);
    if (error == 0)
        hist_finish(r->hist);
    options->incomplete |= !r->scan.partial && !trace_audit_complete(&r->scan.audit);
    return error;
}

static void close_trace(struct reading *r)
{
    if (r->hist != NULL)
        hist_free(r->hist);
    free(r->hist);
    trace_scan_close(&r->scan);
}

/* An axis of times from the least to the largest value, with some room. */
static struct plot_axis time_axis(double least, double largest)
{
    struct plot_axis axis = {.is_log = true, .page_from = PLOT_LEFT, .page_to = PLOT_RIGHT};

    axis.from = least < 1 ? 1 : least;
    axis.to = largest > axis.from ? largest : axis.from;
    if (axis.to / axis.from < 10) { /* a decade at least, in the middle */
        double middle = sqrt(axis.from * axis.to);

        axis.from = middle / sqrt(10);
        axis.to = middle * sqrt(10);
    }
    return axis;
}

static void draw_percentiles(struct svg *svg, const struct hist *hist,
                             const struct hist_subject *subject, const struct plot_axis *axis)
{
    static const struct {
        const char *name;
        double share;
    } lines[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};
    double last = -1000;
    char text[64], time[TEXT_QUANTITY_BYTES];

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        uint64_t value = i == 2 ? subject->values.largest
                                : histogram_percentile(&subject->values, lines[i].share);
        double ns = (double)hist_quantity(hist, subject, value);
        double x = plot_axis_at(axis, ns < axis->from ? axis->from : ns);

        svg_line(svg, x, TOP - 4, x, BOTTOM, svg_colour(1), 0.8);
        snprintf(text, sizeof text, "%s %s", lines[i].name, text_time(time, ns));
        if (x - last > 90) /* names that would cover each other are left out, but for the first */
            svg_text(svg, x, TOP - 8, x > PLOT_RIGHT - 50 ? SVG_END : SVG_MIDDLE, text);
        last = x - last > 90 ? x : last;
    }
}

static void draw_bars(struct svg *svg, const struct hist *hist, const struct hist_subject *subject,
                      const struct plot_axis *x_axis, const struct plot_axis *y_axis)
{
    struct hist_range ranges[HIST_RANGES_MAX];
    uint32_t count = hist_ranges(subject, ranges, BARS);
    char title[128], from[TEXT_QUANTITY_BYTES], number[TEXT_QUANTITY_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        double low = (double)hist_quantity(hist, subject, ranges[i].from);
        double high = (double)hist_quantity(hist, subject, ranges[i].to) + 1;
        double left, right, y;

        if (ranges[i].count == 0)
            continue;
        left = plot_axis_at(x_axis, low < x_axis->from ? x_axis->from : low);
        right = plot_axis_at(x_axis, high > x_axis->to ? x_axis->to : high);
        right = right < left + 1.5 ? left + 1.5 : right; /* a single value is seen, too */
        y = plot_axis_at(y_axis, (double)ranges[i].count);
        snprintf(title, sizeof title, "from %s: %s", text_time(from, low),
                 text_count(number, ranges[i].count));
        svg_rect(svg, left, y, right - left, BOTTOM - y, svg_colour(0), title);
    }
}

static double most_of(const struct hist_subject *subject)
{
    struct hist_range ranges[HIST_RANGES_MAX];
    uint32_t count = hist_ranges(subject, ranges, BARS);
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = ranges[i].count > most ? ranges[i].count : most;
    return (double)most;
}

static void draw_intervals(const struct hist *hist, FILE *out)
{
    const struct hist_subject *subject = &hist->subjects[0];
    struct plot_axis x = time_axis((double)hist_quantity(hist, subject, subject->least),
                                   (double)hist_quantity(hist, subject, subject->values.largest));
    struct plot_axis y = {.from = 0.8, .page_from = BOTTOM, .page_to = TOP, .is_log = true};
    char title[PLOT_TITLE_BYTES];
    struct svg svg;

    y.to = pow(10, ceil(log10(most_of(subject) + 1)));
    plot_title(title, hist->info, "time between samples");
    svg_begin(&svg, out, HEIGHT, title);
    svg_text(&svg, PLOT_LEFT, 16, SVG_START, title);
    svg_text_up(&svg, 16, (TOP + BOTTOM) / 2, "samples");
    plot_axis_left(&svg, &y, PLOT_LEFT, PLOT_RIGHT, 6, false);
    plot_axis_time(&svg, &x, BOTTOM, TOP, "time between two samples of a CPU");
    draw_bars(&svg, hist, subject, &x, &y);
    draw_percentiles(&svg, hist, subject, &x);
    svg_end(&svg);
}

/* Draws distributions, unless all of them are empty. */
static int plot_of(struct plot_options *options, const char *const *of, uint32_t count,
                   void (*draw)(const struct hist *hist, FILE *out), FILE *out)
{
    struct reading r;
    int error = read_trace(options, &r, of, count);
    uint64_t values = 0;

    for (uint32_t i = 0; error == 0 && i < count; i++)
        values += r.hist->subjects[i].values.count;
    if (error == 0 && values == 0)
        error = -ENODATA;
    if (error == 0)
        draw(r.hist, out);
    if (r.hist != NULL)
        close_trace(&r);
    return error;
}

int plot_intervals(struct plot_options *options, FILE *out)
{
    static const char *const of[] = {"interval"};

    return plot_of(options, of, 1, draw_intervals, out);
}

/* The share of values that are at most as large, as steps. */
static void draw_shares(struct svg *svg, const struct hist *hist,
                        const struct hist_subject *subject, const struct plot_axis *x_axis,
                        const struct plot_axis *y_axis, unsigned colour)
{
    struct svg_point *points = calloc(2 * HISTOGRAM_BUCKETS + 2, sizeof points[0]);
    uint64_t below = 0;
    size_t count = 0;

    if (points == NULL) {
        svg->xml.bad = true;
        return;
    }
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double ns = (double)hist_quantity(hist, subject, histogram_bucket_value(i));
        double x = plot_axis_at(x_axis, ns < x_axis->from ? x_axis->from : ns);
        double share = 100.0 / (double)subject->values.count;

        if (subject->values.buckets[i] == 0)
            continue;
        points[count++] = (struct svg_point){x, plot_axis_at(y_axis, share * (double)below)};
        below += subject->values.buckets[i];
        points[count++] = (struct svg_point){x, plot_axis_at(y_axis, share * (double)below)};
    }
    if (count != 0)
        points[count++] = (struct svg_point){x_axis->page_to, y_axis->page_to};
    svg_path(svg, points, count, svg_colour(colour), 1.4);
    free(points);
}

static void draw_calls(const struct hist *hist, FILE *out)
{
    static const char *const names[] = {"system calls", "gaps: the program did not run"};
    struct plot_axis x, y = {.to = 100, .page_from = BOTTOM, .page_to = TOP};
    double least = INFINITY, largest = 0, at = PLOT_LEFT;
    char title[PLOT_TITLE_BYTES], text[96], number[TEXT_QUANTITY_BYTES];
    struct svg svg;

    for (uint32_t i = 0; i < hist->subject_count && i < 2; i++) {
        const struct hist_subject *s = &hist->subjects[i];

        if (s->values.count == 0)
            continue;
        least = fmin(least, (double)hist_quantity(hist, s, s->least));
        largest = fmax(largest, (double)hist_quantity(hist, s, s->values.largest));
    }
    x = time_axis(least, largest);
    plot_title(title, hist->info, "system calls and gaps");
    svg_begin(&svg, out, HEIGHT, title);
    svg_text(&svg, PLOT_LEFT, 16, SVG_START, title);
    svg_text_up(&svg, 16, (TOP + BOTTOM) / 2, "share that took at most so long");
    plot_axis_left(&svg, &y, PLOT_LEFT, PLOT_RIGHT, 5, true);
    plot_axis_time(&svg, &x, BOTTOM, TOP, "duration");
    for (uint32_t i = 0; i < hist->subject_count && i < 2; i++) {
        const struct hist_subject *s = &hist->subjects[i];

        if (s->values.count == 0)
            continue;
        draw_shares(&svg, hist, s, &x, &y, i);
        svg_line(&svg, at, 28, at + 14, 28, svg_colour(i), 2);
        snprintf(text, sizeof text, "%s (%s)", names[i], text_count(number, s->values.count));
        svg_text(&svg, at + 18, 32, SVG_START, text);
        at += 200;
    }
    svg_end(&svg);
}

int plot_calls(struct plot_options *options, FILE *out)
{
    static const char *const of[] = {"syscall", "gap"};

    return plot_of(options, of, 2, draw_calls, out);
}
