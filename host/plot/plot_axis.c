/* Places values and draws axes. */
#include "host/plot/plot_axis.h"

#include <math.h>

#include "host/base/text.h"

#define TICK 4.0

/* 1, 2 or 5 times a power of ten, so that so many steps cover the span. */
static double step_of(double span, unsigned ticks)
{
    double raw = span / ticks, unit = pow(10, floor(log10(raw)));

    return raw <= unit * 1.0001 ? unit
           : raw <= 2 * unit    ? 2 * unit
           : raw <= 5 * unit    ? 5 * unit
                                : 10 * unit;
}

void plot_axis_round(struct plot_axis *axis, unsigned ticks)
{
    if (!(axis->to > axis->from))
        axis->to = axis->from + 1;
    for (int round = 0; round < 4; round++) { /* the step of a longer axis may be a larger one */
        double step = step_of(axis->to - axis->from, ticks);

        axis->to = axis->from + ceil((axis->to - axis->from) / step - 1e-9) * step;
    }
}

double plot_axis_at(const struct plot_axis *axis, double value)
{
    double part = axis->is_log ? (log(value) - log(axis->from)) / (log(axis->to) - log(axis->from))
                               : (value - axis->from) / (axis->to - axis->from);

    return axis->page_from + part * (axis->page_to - axis->page_from);
}

unsigned plot_axis_ticks(const struct plot_axis *axis, unsigned wanted,
                         double ticks[PLOT_TICKS_MAX])
{
    double step = axis->is_log ? ceil(log10(axis->to / axis->from) / wanted)
                               : step_of(axis->to - axis->from, wanted);
    double first = axis->is_log ? ceil(log10(axis->from) - 1e-9) : ceil(axis->from / step - 1e-9);
    unsigned count = 0;

    if (axis->is_log && step < 1)
        step = 1;
    for (double i = first; count < PLOT_TICKS_MAX; i += axis->is_log ? step : 1) {
        double value = axis->is_log ? pow(10, i) : i * step;

        if (!(value <= axis->to * (1 + 1e-9)))
            break;
        ticks[count++] = value + 0.0; /* no -0 */
    }
    return count;
}

const char *plot_time_unit(double ns, double *unit_ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

    for (size_t i = 0; i < 3; i++) {
        *unit_ns = units[i].ns;
        if (ns >= 2 * units[i].ns)
            return units[i].unit;
    }
    *unit_ns = 1;
    return "ns";
}

/* "10 us" */
static void name_time(char out[TEXT_QUANTITY_BYTES], double ns)
{
    double unit_ns;
    const char *unit = plot_time_unit(2 * ns, &unit_ns);

    snprintf(out, TEXT_QUANTITY_BYTES, "%g %s", ns / unit_ns, unit);
}

void plot_axis_time(struct svg *svg, const struct plot_axis *axis, double y, double top,
                    const char *label)
{
    double ticks[PLOT_TICKS_MAX], unit_ns;
    const char *unit = plot_time_unit(axis->to, &unit_ns);
    struct plot_axis scaled = *axis;
    char text[128];
    unsigned count;

    if (!axis->is_log) { /* round in the unit that is shown */
        scaled.from /= unit_ns;
        scaled.to /= unit_ns;
    }
    count = plot_axis_ticks(&scaled, 8, ticks);
    for (unsigned i = 0; i < count; i++) {
        double x = plot_axis_at(&scaled, ticks[i]);

        svg_line(svg, x, top, x, y, SVG_PALE, 0.5);
        svg_line(svg, x, y, x, y + TICK, SVG_INK, 1);
        if (axis->is_log)
            name_time(text, ticks[i]);
        else
            snprintf(text, sizeof text, "%g", ticks[i]);
        svg_text(svg, x, y + TICK + SVG_TEXT, SVG_MIDDLE, text);
    }
    svg_line(svg, axis->page_from, y, axis->page_to, y, SVG_INK, 1);
    snprintf(text, sizeof text, axis->is_log ? "%s" : "%s (%s)", label, unit);
    svg_text(svg, (axis->page_from + axis->page_to) / 2, y + TICK + 2.4 * SVG_TEXT, SVG_MIDDLE,
             text);
}

/* "20K": at most five characters or so. */
static void name_number(char out[TEXT_QUANTITY_BYTES], double value)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P"};
    size_t unit = 0;

    while (value >= 10000 && unit < 5) {
        value /= 1000;
        unit++;
    }
    snprintf(out, TEXT_QUANTITY_BYTES, "%g%s", value, units[unit]);
}

void plot_axis_left(struct svg *svg, const struct plot_axis *axis, double x, double right,
                    unsigned wanted, bool percent)
{
    double ticks[PLOT_TICKS_MAX];
    unsigned count = plot_axis_ticks(axis, wanted, ticks);
    char number[TEXT_QUANTITY_BYTES], text[TEXT_QUANTITY_BYTES + 4];

    for (unsigned i = 0; i < count; i++) {
        double y = plot_axis_at(axis, ticks[i]);

        name_number(number, ticks[i]);
        snprintf(text, sizeof text, "%s%s", number, percent ? " %" : "");
        svg_line(svg, x, y, right, y, SVG_PALE, 0.5);
        svg_line(svg, x - TICK, y, x, y, SVG_INK, 1);
        svg_text(svg, x - TICK - 3, y + SVG_TEXT * 0.35, SVG_END, text);
    }
    svg_line(svg, x, axis->page_from, x, axis->page_to, SVG_INK, 1);
}
