/* The picture of memory over time and address, in parts. */
#pragma once

#include "host/memory/map/memory_map.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"

#define PLOT_MEMORY_LEFT 150.0 /* names of objects are long */
#define PLOT_MEMORY_BINS 256u
#define PLOT_MEMORY_HUES 5u
#define PLOT_MEMORY_SHADES 5u

struct plot_memory {
    struct trace_scan scan;
    struct memory_map map;
    double tops[MEMORY_MAP_BANDS], heights[MEMORY_MAP_BANDS];
    double end; /* of the bands */
    /* From reads alone over as many to writes alone; lighter where there are fewer. */
    char colours[PLOT_MEMORY_HUES][PLOT_MEMORY_SHADES][8];
    struct svg svg;
    struct plot_axis time;
};

/* Draws what there is below the bands, with the axis of time: for each column the records of
 * accesses, working sets of pages, the allocated memory.  `top` is that of the plot. */
#define PLOT_MEMORY_BELOW 80.0 /* its height */
void plot_memory_below(struct plot_memory *p, double top);
