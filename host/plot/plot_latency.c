/* Draws how long probed functions took: the share of calls that took at most so long, and below it,
 * on a logarithmic axis, the share that took longer. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/draw/function_name.h"
#include "host/latency/latency_find.h"
#include "host/latency/latency_rows.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"
#include "host/scan/about.h"

#define FUNCTIONS_MAX SVG_COLOURS
#define RANKS_MAX 2000u /* more calls are drawn by shares */
#define SHARES 500u /* of an equal distance */
#define DECADE 60u /* of the tail: shares in it */
#define POINTS_MAX (RANKS_MAX + SHARES + 20 * DECADE)
#define LEGEND_TOP 36.0
#define LEGEND_ROW 15.0
#define SHARES_HEIGHT 190.0
#define TAIL_HEIGHT 190.0
#define GAP 18.0

struct curve { /* of one function */
    char *label; /* owned */
    uint64_t calls;
    double median, p99, p999, largest; /* ns */
    uint32_t count;
    double shares[POINTS_MAX]; /* ascending, the last one is 1 */
    double ns[POINTS_MAX]; /* that so many calls do not exceed */
};

struct picture {
    struct trace_scan scan;
    struct latency_threads threads;
    struct latency_rows rows;
    const char *function; /* the only one that is wanted; NULL: those with the worst tails */
    struct curve *curves; /* owned */
    uint32_t count;
};

static int begin(void *context)
{
    struct picture *p = context;
    const struct trace_info *info = &p->scan.info;
    int error = latency_threads_init(&p->threads, info);

    p->rows.only = TRACE_POINTS_NONE;
    if (p->function != NULL)
        p->rows.only = latency_find(&info->points, p->function);
    if (error == 0 && p->function != NULL && p->rows.only == TRACE_POINTS_NONE)
        error = -ENODATA;
    return error == 0 ? latency_rows_init(&p->rows, info) : error;
}

static int read_rows(struct picture *p)
{
    struct latency_sink sink;
    int error;

    p->threads.follower = (struct latency_follower){
        .context = &p->rows, .returned = latency_rows_returned, .lost = latency_rows_lost};
    sink = latency_threads_sink(&p->threads);
    error = latency_order_run(&p->scan, begin, p, &sink);
    if (error != 0)
        return error;
    latency_threads_finish(&p->threads);
    latency_rows_sort(&p->rows, LATENCY_SORT_TAIL);
    return p->rows.error;
}

static double ns_at(const struct picture *p, struct latency_row *row, double share)
{
    return (double)trace_info_ns(&p->scan.info, latency_values_at(&row->ticks, share));
}

static void add_point(const struct picture *p, struct curve *c, struct latency_row *row,
                      double share)
{
    c->shares[c->count] = share;
    c->ns[c->count++] = ns_at(p, row, share);
}

/* Every call while they are few; otherwise shares, close to each other in the tail. */
static void take_points(const struct picture *p, struct curve *c, struct latency_row *row)
{
    double calls = (double)c->calls;

    if (c->calls <= RANKS_MAX) {
        for (uint64_t i = 1; i <= c->calls; i++)
            add_point(p, c, row, (double)i / calls);
        return;
    }
    for (uint32_t i = 1; i <= SHARES * 9 / 10; i++)
        add_point(p, c, row, (double)i / SHARES);
    for (uint32_t i = 1; i <= 20 * DECADE; i++) {
        double above = 0.1 * pow(10, -(double)i / DECADE);

        if (above * calls < 1)
            break;
        add_point(p, c, row, 1 - above);
    }
    add_point(p, c, row, 1);
}

static int take_curves(struct picture *p)
{
    p->curves = calloc(FUNCTIONS_MAX, sizeof p->curves[0]);
    if (p->curves == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < p->rows.count && p->count < FUNCTIONS_MAX; i++) {
        struct latency_row *row = p->rows.all[i];
        struct curve *c = &p->curves[p->count];

        if (row->ticks.count == 0)
            continue;
        c->label = latency_find_label(&p->scan.info.points, row->function);
        if (c->label == NULL)
            return -ENOMEM;
        function_hide_parameters(c->label);
        c->calls = row->ticks.count;
        c->median = ns_at(p, row, 0.5);
        c->p99 = ns_at(p, row, 0.99);
        c->p999 = ns_at(p, row, 0.999);
        c->largest = ns_at(p, row, 1);
        take_points(p, c, row);
        p->count++;
    }
    return p->count != 0 ? 0 : -ENODATA;
}

/* From the least to the largest duration, at least a decade. */
static struct plot_axis time_axis(const struct picture *p)
{
    struct plot_axis axis = {.is_log = true, .page_from = PLOT_LEFT, .page_to = PLOT_RIGHT};
    double least = INFINITY, largest = 1;

    for (uint32_t i = 0; i < p->count; i++) {
        least = fmin(least, p->curves[i].ns[0]);
        largest = fmax(largest, p->curves[i].largest);
    }
    axis.from = fmax(least, 1) / 1.15;
    axis.to = largest * 1.15;
    if (axis.to / axis.from < 10) {
        double middle = sqrt(axis.from * axis.to);

        axis.from = middle / sqrt(10);
        axis.to = middle * sqrt(10);
    }
    return axis;
}

/* Steps: of the calls that take at most so long, or (`tail`) of those that take longer. */
static void draw_curve(struct svg *svg, const struct curve *c, const struct plot_axis *x,
                       const struct plot_axis *y, bool tail, unsigned colour)
{
    struct svg_point *points = calloc(2ul * c->count + 1, sizeof points[0]);
    double before = 0;
    size_t count = 0;

    if (points == NULL) {
        svg->xml.bad = true;
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        double at = plot_axis_at(x, fmax(c->ns[i], x->from));
        double from = tail ? 1 - before : before, to = tail ? 1 - c->shares[i] : c->shares[i];

        points[count++] = (struct svg_point){at, plot_axis_at(y, 100 * from)};
        if (to * (double)c->calls > 0.5) /* the longest call ends the tail */
            points[count++] = (struct svg_point){at, plot_axis_at(y, 100 * to)};
        before = c->shares[i];
    }
    if (!tail)
        points[count++] = (struct svg_point){x->page_to, plot_axis_at(y, 100)};
    svg_path(svg, points, count, svg_colour(colour), 1.4);
    free(points);
}

static void draw_legend(struct svg *svg, const struct picture *p)
{
    static const char *const heads[] = {"calls", "median", "p99", "p99.9", "longest"};
    static const double ends[] = {378, 454, 524, 594, PLOT_RIGHT};
    char text[TEXT_QUANTITY_BYTES];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        svg_text(svg, ends[i], LEGEND_TOP, SVG_END, heads[i]);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct curve *c = &p->curves[i];
        const double values[] = {c->median, c->p99, c->p999, c->largest};
        double y = LEGEND_TOP + (i + 1) * LEGEND_ROW;

        svg_line(svg, 12, y - 4, 28, y - 4, svg_colour(i), 2.2);
        svg_text_within(svg, 34, y, 280, c->label);
        svg_text(svg, ends[0], y, SVG_END, text_count(text, c->calls));
        for (size_t n = 0; n < sizeof values / sizeof values[0]; n++)
            svg_text(svg, ends[n + 1], y, SVG_END, text_time(text, values[n]));
    }
}

/* The percentiles of the only curve, through both plots. */
static void draw_percentiles(struct svg *svg, const struct curve *c, const struct plot_axis *x,
                             double top, double bottom)
{
    const struct {
        const char *name;
        double ns;
    } lines[] = {{"median", c->median}, {"p99", c->p99}, {"p99.9", c->p999}};
    double last = -100;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        double at = plot_axis_at(x, fmax(lines[i].ns, x->from));

        svg_line(svg, at, top, at, bottom, svg_colour(1), 0.8);
        if (at - last > 44) /* names that would cover each other are left out */
            svg_text(svg, at, top - 4, SVG_MIDDLE, lines[i].name);
        last = at - last > 44 ? at : last;
    }
}

static double rarest(const struct picture *p)
{
    double least = 0.5;

    for (uint32_t i = 0; i < p->count; i++)
        least = fmin(least, 1 / (double)p->curves[i].calls);
    return 100 * least;
}

/* Between the decades of the axis: marks, with times where there is room. */
static void draw_small_ticks(struct svg *svg, const struct plot_axis *x, double y)
{
    double decades = log10(x->to / x->from);
    char text[TEXT_QUANTITY_BYTES];

    for (int power = (int)floor(log10(x->from)); power <= log10(x->to); power++)
        for (int i = 2; i <= 9; i++) {
            double ns = i * pow(10, power), at = plot_axis_at(x, ns), unit_ns;
            const char *unit = plot_time_unit(2 * ns, &unit_ns);

            if (ns < x->from || ns > x->to)
                continue;
            svg_line(svg, at, y, at, y + 2.5, SVG_INK, 0.5);
            snprintf(text, sizeof text, "%g %s", ns / unit_ns, unit);
            if (decades < 2.7 && (i == 2 || i == 5))
                svg_text(svg, at, y + 4 + SVG_TEXT, SVG_MIDDLE, text);
        }
}

static void draw_plots(struct svg *svg, const struct picture *p, double top)
{
    double middle = top + SHARES_HEIGHT, tail_top = middle + GAP, bottom = tail_top + TAIL_HEIGHT;
    struct plot_axis x = time_axis(p), shares = {.to = 100, .page_from = middle, .page_to = top};
    struct plot_axis tail = {.from = rarest(p) / 1.5,
                             .to = 100,
                             .page_from = bottom,
                             .page_to = tail_top,
                             .is_log = true};

    svg_text_up(svg, 12, (top + middle) / 2, "calls that take at most so long");
    svg_text_up(svg, 12, (tail_top + bottom) / 2, "calls that take longer");
    plot_axis_time(svg, &x, bottom, top, "duration");
    draw_small_ticks(svg, &x, bottom);
    plot_axis_left(svg, &shares, PLOT_LEFT, PLOT_RIGHT, 5, true);
    plot_axis_left(svg, &tail, PLOT_LEFT, PLOT_RIGHT, 8, true);
    if (p->count == 1)
        draw_percentiles(svg, &p->curves[0], &x, top, bottom);
    for (uint32_t i = p->count; i-- > 0;) {
        draw_curve(svg, &p->curves[i], &x, &shares, false, i);
        draw_curve(svg, &p->curves[i], &x, &tail, true, i);
    }
    svg_line(svg, PLOT_LEFT, middle, PLOT_RIGHT, middle, SVG_INK, 1);
}

static void draw(const struct picture *p, FILE *out)
{
    double top = LEGEND_TOP + (p->count + 1) * LEGEND_ROW + 14;
    double height = top + SHARES_HEIGHT + GAP + TAIL_HEIGHT + 48;
    char title[PLOT_TITLE_BYTES], note[96];
    struct svg svg;

    plot_title(title, &p->scan.info,
               p->function != NULL ? "durations of a function" : "durations of functions");
    svg_begin(&svg, out, height, title);
    svg_text(&svg, 12, 16, SVG_START, title);
    draw_legend(&svg, p);
    draw_plots(&svg, p, top);
    if (p->rows.count > p->count) {
        snprintf(note, sizeof note, "the %u functions with the worst tails of %u", p->count,
                 p->rows.count);
        svg_text(&svg, PLOT_RIGHT, 16, SVG_END, note);
    }
    svg_end(&svg);
}

/* Whether anything is probed, as the trace's index leads to it; -errno. */
static int is_probed(const char *path)
{
    struct trace_info info;
    int result;

    trace_info_init(&info);
    result = about_read(&info, path);
    if (result == 0)
        result = info.points.any;
    trace_info_free(&info);
    return result;
}

int plot_latency(struct plot_options *options, FILE *out)
{
    int error = is_probed(options->reader.path);
    struct picture *p;

    if (error <= 0)
        return error == 0 ? -ENODATA : error;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return -ENOMEM;
    p->function = options->function;
    error = plot_open(options, &p->scan);
    if (error != 0) {
        free(p);
        return error;
    }
    error = read_rows(p);
    if (error == 0)
        error = take_curves(p);
    if (error == 0)
        draw(p, out);
    latency_rows_free(&p->rows);
    latency_threads_free(&p->threads);
    for (uint32_t i = 0; i < p->count; i++)
        free(p->curves[i].label);
    free(p->curves);
    plot_close(options, &p->scan);
    free(p);
    return error;
}
