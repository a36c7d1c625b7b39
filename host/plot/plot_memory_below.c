/* Draws what a map of memory adds up to in each column of time. */
#include "host/plot/plot_memory.h"

#include "host/base/text.h"

#define LEFT PLOT_MEMORY_LEFT

struct curve {
    const char *colour;
    double values[PLOT_MEMORY_BINS];
};

static double reads_of(const struct memory_map_band *band, uint32_t bin, uint32_t row)
{
    return memory_map_cell(band, bin, row)->reads;
}

static double writes_of(const struct memory_map_band *band, uint32_t bin, uint32_t row)
{
    return memory_map_cell(band, bin, row)->writes;
}

static double megabytes_of(const struct memory_map_band *band, uint32_t bin, uint32_t row)
{
    return memory_map_live(band, bin, row) * (double)(band->end - band->start) / band->rows / 1e6;
}

static void sum(struct curve *curve, const struct memory_map *map, const char *colour,
                double (*of)(const struct memory_map_band *, uint32_t bin, uint32_t row))
{
    *curve = (struct curve){.colour = colour};
    for (uint32_t bin = 0; bin < map->bins; bin++)
        for (uint32_t i = 0; i < map->count; i++)
            for (uint32_t row = 0; row < map->bands[i].rows; row++)
                curve->values[bin] += of(&map->bands[i], bin, row);
}

/* The largest set of the looks of each column. */
static void take_sets(struct curve *curve, const struct memory_map *map, unsigned window)
{
    uint32_t first = map->pages.look_count - map->looks;

    *curve = (struct curve){.colour = svg_colour(window)};
    for (uint32_t i = 0; i < map->looks; i++) {
        double set = (double)map->pages.looks[first + i].set[window] * MEMORY_PAGE_BYTES / 1e6;
        double *value = &curve->values[(uint64_t)i * map->bins / map->looks];

        *value = set > *value ? set : *value;
    }
}

/* Names the lengths of the sets. */
static void draw_windows(struct plot_memory *p, double top)
{
    char text[TEXT_QUANTITY_BYTES];

    for (unsigned w = 0; w < MEMORY_WINDOWS; w++) {
        double x = LEFT + 210 + 90.0 * w;

        svg_line(&p->svg, x, top - 10, x + 14, top - 10, svg_colour(w), 2);
        svg_text(&p->svg, x + 18, top - 6, SVG_START,
                 text_time(text, memory_window[w] * (double)p->map.pages.interval_ns));
    }
}

static void draw_curves(struct plot_memory *p, double top, const struct curve *curves,
                        unsigned count)
{
    struct svg_point points[2 * PLOT_MEMORY_BINS];
    struct plot_axis axis = {.page_from = top + PLOT_MEMORY_BELOW, .page_to = top};
    double width = (PLOT_RIGHT - LEFT) / p->map.bins;

    for (unsigned c = 0; c < count; c++)
        for (uint32_t bin = 0; bin < p->map.bins; bin++)
            if (curves[c].values[bin] > axis.to)
                axis.to = curves[c].values[bin];
    plot_axis_round(&axis, 2);
    plot_axis_left(&p->svg, &axis, LEFT, PLOT_RIGHT, 2, false);
    for (unsigned c = 0; c < count; c++) {
        for (uint32_t i = 0; i < 2 * p->map.bins; i++) {
            uint32_t edge = i / 2 + i % 2;

            points[i] = (struct svg_point){LEFT + edge * width,
                                           plot_axis_at(&axis, curves[c].values[i / 2])};
        }
        svg_path(&p->svg, points, 2ul * p->map.bins, curves[c].colour, 1);
    }
    plot_axis_time(&p->svg, &p->time, top + PLOT_MEMORY_BELOW, top,
                   "time since the program's start");
}

void plot_memory_below(struct plot_memory *p, double top)
{
    static const char *const words[] = {
        [MEMORY_MAP_ACCESSES] = "records of reads and writes in each column",
        [MEMORY_MAP_PAGES] = "working set (MB), touched in the last",
        [MEMORY_MAP_ALLOCATIONS] = "allocated in these places (MB)"};
    struct curve curves[MEMORY_WINDOWS];
    unsigned count = 1;

    svg_text(&p->svg, LEFT, top - 6, SVG_START, words[p->map.of]);
    if (p->map.of == MEMORY_MAP_ACCESSES) {
        sum(&curves[0], &p->map, p->colours[0][PLOT_MEMORY_SHADES - 1], reads_of);
        sum(&curves[1], &p->map, p->colours[PLOT_MEMORY_HUES - 1][PLOT_MEMORY_SHADES - 1],
            writes_of);
        count = 2;
    } else if (p->map.of == MEMORY_MAP_PAGES) {
        for (count = 0; count < MEMORY_WINDOWS; count++)
            take_sets(&curves[count], &p->map, count);
        draw_windows(p, top);
    } else {
        sum(&curves[0], &p->map, svg_colour(0), megabytes_of);
    }
    draw_curves(p, top, curves, count);
}
