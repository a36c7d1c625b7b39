/* Axes of pictures: where a value lies on the page, and the values that get a tick. */
#pragma once

#include <stdbool.h>

#include "host/draw/svg.h"

#define PLOT_TICKS_MAX 16u

struct plot_axis {
    double from; /* values at its ends; of a logarithmic one above 0 */
    double to;
    double page_from; /* where they lie */
    double page_to;
    bool is_log;
};

/* Makes `to` a round value, so that the last tick is the end. */
void plot_axis_round(struct plot_axis *axis, unsigned ticks);

double plot_axis_at(const struct plot_axis *axis, double value);

/* About so many round values between the ends (of a logarithmic axis: decades): how many. */
unsigned plot_axis_ticks(const struct plot_axis *axis, unsigned wanted,
                         double ticks[PLOT_TICKS_MAX]);

/* The unit for times up to so many nanoseconds, and how many nanoseconds it has. */
const char *plot_time_unit(double ns, double *unit_ns);

/* Draws an axis of times in nanoseconds at the bottom of a picture, at `y`, with its label below; a
 * grid reaches up to `top`. */
void plot_axis_time(struct svg *svg, const struct plot_axis *axis, double y, double top,
                    const char *label);

/* Draws an axis at the left, at `x`; a grid reaches to `right`.  `percent` adds the sign. */
void plot_axis_left(struct svg *svg, const struct plot_axis *axis, double x, double right,
                    unsigned ticks, bool percent);
