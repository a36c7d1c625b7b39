/* Draws rates over time: a plot for each rate, a line in it for each CPU, marks through all. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"
#include "host/report/report_marks.h"
#include "host/timeline/timeline_rates.h"

#define BINS 500u
#define PLOT_HEIGHT 76.0
#define PLOT_GAP 26.0
#define LINES_MAX SVG_COLOURS /* CPUs */
#define MARK_NAMES_MAX 8u /* more marks are lines without names */
#define MARKS_MAX 200u
#define HEAD 48.0

struct picture {
    struct trace_scan scan;
    struct timeline timeline;
    struct timeline_rates rates;
    struct report_marks marks;
    struct svg svg;
    struct plot_axis time;
};

static int take_mark(void *context, const struct trace_chunk *chunk,
                     const struct trace_record *record)
{
    struct picture *p = context;

    return record->type == HR_REC_MARK && p->marks.count < MARKS_MAX
               ? report_marks_take(&p->marks, chunk->header.cpu, record)
               : 0;
}

/* Counts and what follows from the others are left to tables. */
static bool is_drawn(const struct timeline_rates *rates, const struct timeline_rate *rate)
{
    switch (rate->metric) {
    case TIMELINE_USAGE:
    case TIMELINE_IPC:
    case TIMELINE_GHZ:
    case TIMELINE_FREQUENCY:
        return true;
    case TIMELINE_PER_US:
        return rates->instructions < 0 || rate->event == (uint32_t)rates->instructions;
    case TIMELINE_PER_KI:
        return rates->cycles < 0 || rate->event != (uint32_t)rates->cycles;
    default:
        return false;
    }
}

static bool value_at(const struct picture *p, const struct timeline_group *group,
                     const struct timeline_rate *rate, uint64_t bin, double *value)
{
    const struct timeline *t = &p->timeline;
    uint64_t ticks = timeline_bin_ticks(t, bin + 1) - timeline_bin_ticks(t, bin);
    bool known = timeline_rate(&p->rates, rate, timeline_bin(t, group, bin), ticks, value);

    if (rate->metric == TIMELINE_USAGE)
        *value *= 100;
    return known;
}

static uint32_t line_count(const struct picture *p)
{
    return p->timeline.group_count < LINES_MAX ? p->timeline.group_count : LINES_MAX;
}

static double most_of(const struct picture *p, const struct timeline_rate *rate)
{
    double most = 0, value;

    for (uint32_t g = 0; g < line_count(p); g++)
        for (uint64_t bin = 0; bin < p->timeline.bins; bin++)
            if (value_at(p, &p->timeline.groups[g], rate, bin, &value) && value > most)
                most = value;
    return most;
}

/* Steps: a rate is that of its whole bin. */
static void draw_line(struct picture *p, const struct timeline_rate *rate,
                      const struct plot_axis *axis, uint32_t number)
{
    const struct timeline *t = &p->timeline;
    struct svg_point *points = calloc(2 * t->bins, sizeof points[0]);
    double value;

    if (points == NULL) {
        p->svg.xml.bad = true;
        return;
    }
    for (uint64_t bin = 0; bin < t->bins; bin++) {
        bool known = value_at(p, &t->groups[number], rate, bin, &value);
        double y = known ? plot_axis_at(axis, value) : NAN;

        for (uint64_t end = 0; end < 2; end++)
            points[2 * bin + end] = (struct svg_point){
                plot_axis_at(&p->time, (double)timeline_bin_start_ns(t, bin + end)), y};
    }
    svg_path(&p->svg, points, 2 * t->bins, svg_colour(number), 1);
    free(points);
}

static void draw_plot(struct picture *p, const struct timeline_rate *rate, double top)
{
    struct plot_axis axis = {
        .to = most_of(p, rate), .page_from = top + PLOT_HEIGHT, .page_to = top};
    char label[80];

    if (rate->metric == TIMELINE_USAGE)
        axis.to = 100;
    plot_axis_round(&axis, 2);
    plot_axis_left(&p->svg, &axis, PLOT_LEFT, PLOT_RIGHT, 2, false);
    timeline_rate_label(&p->rates, rate, label, sizeof label);
    svg_text(&p->svg, PLOT_LEFT, top - 5, SVG_START, label);
    for (uint32_t g = line_count(p); g-- > 0;)
        draw_line(p, rate, &axis, g);
    svg_line(&p->svg, PLOT_LEFT, axis.page_from, PLOT_RIGHT, axis.page_from, SVG_INK, 1);
}

static void draw_legend(struct picture *p, double y)
{
    const struct timeline *t = &p->timeline;
    char text[64];
    double x = PLOT_LEFT;

    if (t->group_count < 2)
        return;
    for (uint32_t g = 0; g < line_count(p); g++) {
        svg_line(&p->svg, x, y - 4, x + 14, y - 4, svg_colour(g), 2);
        if (t->groups[g].key == TIMELINE_REST)
            snprintf(text, sizeof text, "others");
        else
            snprintf(text, sizeof text, "CPU %u", t->groups[g].key);
        svg_text(&p->svg, x + 18, y, SVG_START, text);
        x += 64;
    }
    if (t->group_count > line_count(p)) {
        snprintf(text, sizeof text, "(%u more)", t->group_count - line_count(p));
        svg_text(&p->svg, x, y, SVG_START, text);
    }
}

static void draw_marks(struct picture *p, double top, double bottom)
{
    double free_from = PLOT_LEFT;

    report_marks_sort(&p->marks);
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct report_mark *mark = &p->marks.all[i];
        double ns = (double)trace_info_time_ns(p->timeline.info, mark->time);
        double x = plot_axis_at(&p->time, ns);

        if (ns < p->time.from || ns > p->time.to)
            continue;
        svg_line(&p->svg, x, top, x, bottom, SVG_GREY, 0.5);
        if (p->marks.count > MARK_NAMES_MAX && x < free_from)
            continue;
        svg_text_within(&p->svg, x + 2, top + 3, 76, mark->text);
        free_from = x + 80;
    }
}

static double bottom_of(uint32_t plots)
{
    return HEAD + 16 + plots * (PLOT_HEIGHT + PLOT_GAP) - PLOT_GAP + 10;
}

static void draw(struct picture *p, FILE *out)
{
    const struct timeline *t = &p->timeline;
    char title[PLOT_TITLE_BYTES], note[64];
    uint32_t plots = 0, at = 0;
    bool marked = false;
    double bottom;

    for (uint32_t i = 0; i < p->rates.count; i++)
        plots += is_drawn(&p->rates, &p->rates.all[i]);
    bottom = bottom_of(plots);
    plot_title(title, t->info, "rates");
    svg_begin(&p->svg, out, bottom + 52, title);
    svg_text(&p->svg, PLOT_LEFT, 16, SVG_START, title);
    draw_legend(p, 32);
    p->time = (struct plot_axis){.from = (double)timeline_bin_start_ns(t, 0),
                                 .to = (double)timeline_bin_start_ns(t, t->bins),
                                 .page_from = PLOT_LEFT,
                                 .page_to = PLOT_RIGHT};
    draw_marks(p, HEAD - 6, bottom);
    plot_axis_time(&p->svg, &p->time, bottom, bottom, "time");
    for (uint32_t i = 0; i < p->rates.count; i++) {
        if (!is_drawn(&p->rates, &p->rates.all[i]))
            continue;
        draw_plot(p, &p->rates.all[i], HEAD + 26 + at++ * (PLOT_HEIGHT + PLOT_GAP) - 10);
        marked |= timeline_rate_is_marked(&p->rates, &p->rates.all[i]);
    }
    snprintf(note, sizeof note, "%s", marked ? "* not from a performance counter" : "");
    if (note[0] != 0)
        svg_text(&p->svg, PLOT_LEFT, bottom + 44, SVG_START, note);
    svg_text(&p->svg, PLOT_RIGHT, bottom + 44, SVG_END,
             p->rates.instructions >= 0 ? "/ki: per 1000 instructions" : "");
    svg_end(&p->svg);
}

int plot_timeline(struct plot_options *options, FILE *out)
{
    struct picture p = {.marks = {0}};
    const struct timeline_wish wish = {.bins = BINS, .record = take_mark, .context = &p};
    int error = plot_open(options, &p.scan);

    if (error != 0)
        return error;
    error = timeline_read(&p.timeline, &p.scan, &wish);
    if (error == 0 && p.timeline.group_count == 0)
        error = -ENODATA;
    if (error == 0) {
        timeline_rates_init(&p.rates, &p.timeline, (1u << HR_EVENTS_MAX) - 1, TIMELINE_LINE_BYTES);
        draw(&p, out);
        if (p.svg.xml.bad)
            error = -ENOMEM;
    }
    report_marks_free(&p.marks);
    timeline_free(&p.timeline);
    plot_close(options, &p.scan);
    return error;
}
