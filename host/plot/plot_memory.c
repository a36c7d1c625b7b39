/* Draws addresses over time: which pages were read and written, gaps left out. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/memory/memory.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"
#include "lib/trace_pages.h"

#define HEAD 44.0
#define BANDS 14u /* the largest ranges */
#define BANDS_HEIGHT 330.0
#define BAND_LEAST 12.0
#define BAND_GAP 5.0
#define ROW 2.0 /* height of a cell */
#define BINS 280u
#define SET_GAP 40.0
#define SET_HEIGHT 84.0
#define FOOT 44.0
#define SHADES 3

/* Little, some, most of a cell's pages. */
static const char *const read_colours[SHADES] = {"#b9d9ee", "#5ea7d6", "#0072b2"};
static const char *const write_colours[SHADES] = {"#f6cfb0", "#ea9350", "#d55e00"};

struct cell {
    double touched, written; /* pages, of all looks */
};

struct band {
    const struct memory_range *range;
    double top, height;
    uint32_t rows;
    struct cell *cells; /* bin by bin, each with its rows */
};

struct picture {
    struct trace_scan scan;
    struct symbols *symbols;
    struct memory memory;
    struct band bands[BANDS]; /* in the order of pid and address */
    uint32_t band_count;
    uint32_t bins;
    struct svg svg;
    struct plot_axis time;
};

static uint64_t span_of(const struct memory_range *range)
{
    return (range->end - range->start) / MEMORY_PAGE_BYTES;
}

static int by_touched(const void *a, const void *b)
{
    const struct band *x = a, *y = b;

    if (x->range->touched != y->range->touched)
        return x->range->touched > y->range->touched ? -1 : 1;
    return x->range < y->range ? -1 : x->range > y->range;
}

static int by_place(const void *a, const void *b)
{
    const struct band *x = a, *y = b;

    return x->range < y->range ? -1 : x->range > y->range; /* ranges are in that order */
}

/* Chooses the largest ranges; returns 0 or -ENOMEM. */
static int choose(struct picture *p)
{
    const struct memory *memory = &p->memory;
    struct band *all = calloc(memory->range_count, sizeof *all);

    if (all == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < memory->range_count; i++)
        all[i].range = &memory->ranges[i];
    qsort(all, memory->range_count, sizeof *all, by_touched);
    p->band_count = memory->range_count < BANDS ? (uint32_t)memory->range_count : BANDS;
    memcpy(p->bands, all, p->band_count * sizeof *all);
    qsort(p->bands, p->band_count, sizeof p->bands[0], by_place);
    free(all);
    return 0;
}

/* The highest address is at the top.  Heights grow with the square root of the size, so that a
 * small range is still seen next to a large one. */
static int lay_out(struct picture *p)
{
    double all = 0, y = HEAD;
    double room = BANDS_HEIGHT - p->band_count * (BAND_LEAST + BAND_GAP);

    for (uint32_t i = 0; i < p->band_count; i++)
        all += sqrt((double)span_of(p->bands[i].range));
    for (uint32_t i = p->band_count; i-- > 0;) {
        struct band *band = &p->bands[i];

        band->height = BAND_LEAST + room * sqrt((double)span_of(band->range)) / all;
        band->rows = (uint32_t)(band->height / ROW);
        if (band->rows > span_of(band->range))
            band->rows = (uint32_t)span_of(band->range);
        band->top = y;
        y += band->height + BAND_GAP;
        band->cells = calloc((size_t)p->bins * band->rows, sizeof band->cells[0]);
        if (band->cells == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* Adds the part of a run from `first` to `last`, pages of the band, to the cells of a bin. */
static void add_part(const struct band *band, struct cell *cells, double first, double last,
                     bool written)
{
    double per_row = (double)span_of(band->range) / band->rows;
    uint32_t row = (uint32_t)(first / per_row);

    for (; row < band->rows && row * per_row < last; row++) {
        double from = row * per_row > first ? row * per_row : first;
        double to = (row + 1) * per_row < last ? (row + 1) * per_row : last;

        cells[row].touched += to - from;
        cells[row].written += written ? to - from : 0;
    }
}

static void add_run(const struct picture *p, const struct memory_run *run)
{
    uint64_t end = run->address + run->pages * MEMORY_PAGE_BYTES;
    uint64_t bin = (uint64_t)run->look * p->bins / p->memory.look_count;

    for (uint32_t i = 0; i < p->band_count; i++) {
        const struct band *band = &p->bands[i];
        const struct memory_range *r = band->range;
        uint64_t from = run->address > r->start ? run->address : r->start;
        uint64_t to = end < r->end ? end : r->end;

        if (r->pid == run->pid && from < to)
            add_part(band, band->cells + bin * band->rows,
                     (double)(from - r->start) / MEMORY_PAGE_BYTES,
                     (double)(to - r->start) / MEMORY_PAGE_BYTES, run->flags & TRACE_PAGES_WRITTEN);
    }
}

/* Returns a cell's colour, or NULL. */
static const char *colour(const struct cell *cell, double pages)
{
    double share = cell->touched / pages;
    int shade = share > 2.0 / 3 ? 2 : share > 1.0 / 3 ? 1 : 0;

    if (cell->touched <= 0)
        return NULL;
    return (2 * cell->written >= cell->touched ? write_colours : read_colours)[shade];
}

/* Neighbouring cells of one colour become one rectangle. */
static void draw_row(struct picture *p, const struct band *band, uint32_t row)
{
    double looks = (double)p->memory.look_count / p->bins;
    double pages = (double)span_of(band->range) / band->rows * looks;
    double height = band->height / band->rows, y = band->top + (band->rows - 1 - row) * height;
    double width = (PLOT_RIGHT - PLOT_LEFT) / p->bins;
    uint32_t first = 0;

    for (uint32_t bin = 1; bin <= p->bins; bin++) {
        const char *before = colour(&band->cells[(size_t)first * band->rows + row], pages);

        if (bin < p->bins && colour(&band->cells[(size_t)bin * band->rows + row], pages) == before)
            continue;
        if (before != NULL)
            svg_rect(&p->svg, PLOT_LEFT + first * width, y, (bin - first) * width, height, before,
                     NULL);
        first = bin;
    }
}

static void draw_band(struct picture *p, const struct band *band)
{
    const struct memory_range *r = band->range;
    char size[TEXT_QUANTITY_BYTES], title[MEMORY_LABEL_BYTES + 120];

    snprintf(title, sizeof title, "%s, process %u: 0x%lx to 0x%lx, %s touched", r->label, r->pid,
             r->start, r->end, text_bytes(size, r->touched * MEMORY_PAGE_BYTES));
    svg_rect(&p->svg, PLOT_LEFT, band->top, PLOT_RIGHT - PLOT_LEFT, band->height, "#f4f4f4", title);
    for (uint32_t row = 0; row < band->rows; row++)
        draw_row(p, band, row);
    svg_text_within(&p->svg, 2, band->top + band->height / 2 + SVG_TEXT / 3, PLOT_LEFT - 6,
                    r->label);
}

static void draw_sets(struct picture *p, double top)
{
    const struct memory *memory = &p->memory;
    struct svg_point *points = calloc(2ul * memory->look_count, sizeof *points);
    struct plot_axis axis = {.page_from = top + SET_HEIGHT, .page_to = top};
    double mega = MEMORY_PAGE_BYTES / 1e6, interval = (double)memory->interval_ns;
    char text[64], time[TEXT_QUANTITY_BYTES];

    for (uint32_t i = 0; i < memory->look_count; i++)
        if ((double)memory->looks[i].set[MEMORY_WINDOWS - 1] * mega > axis.to)
            axis.to = (double)memory->looks[i].set[MEMORY_WINDOWS - 1] * mega;
    plot_axis_round(&axis, 2);
    plot_axis_left(&p->svg, &axis, PLOT_LEFT, PLOT_RIGHT, 2, false);
    svg_text(&p->svg, PLOT_LEFT, top - 5, SVG_START, "working set (MB), touched in the last");
    for (unsigned w = 0; w < MEMORY_WINDOWS && points != NULL; w++) {
        double x = PLOT_LEFT + 210 + 90.0 * w;

        for (uint32_t i = 0; i < memory->look_count; i++)
            for (uint32_t end = 0; end < 2; end++)
                points[2 * i + end] =
                    (struct svg_point){plot_axis_at(&p->time, (i + end) * interval),
                                       plot_axis_at(&axis, (double)memory->looks[i].set[w] * mega)};
        svg_path(&p->svg, points, 2ul * memory->look_count, svg_colour(w), 1);
        svg_line(&p->svg, x, top - 9, x + 14, top - 9, svg_colour(w), 2);
        snprintf(text, sizeof text, "%s", text_time(time, memory_window[w] * interval));
        svg_text(&p->svg, x + 18, top - 5, SVG_START, text);
    }
    p->svg.xml.bad |= points == NULL;
    free(points);
    plot_axis_time(&p->svg, &p->time, top + SET_HEIGHT, top, "time since the program's start");
}

static void draw_legend(struct picture *p)
{
    static const char *const words[] = {"read", "written"};

    for (int kind = 0; kind < 2; kind++) {
        double x = PLOT_LEFT + 130.0 * kind;

        for (int shade = 0; shade < SHADES; shade++)
            svg_rect(&p->svg, x + 12 * shade, HEAD - 20, 12, 10,
                     (kind == 0 ? read_colours : write_colours)[shade], NULL);
        svg_text(&p->svg, x + 12 * SHADES + 5, HEAD - 11, SVG_START, words[kind]);
    }
    svg_text(&p->svg, PLOT_RIGHT, HEAD - 11, SVG_END,
             "darker: more of the pages; gaps between ranges are left out");
}

static void draw(struct picture *p, FILE *out)
{
    char title[PLOT_TITLE_BYTES];

    svg_begin(&p->svg, out, HEAD + BANDS_HEIGHT + SET_GAP + SET_HEIGHT + FOOT,
              plot_title(title, &p->scan.info, "pages that were touched"));
    draw_legend(p);
    for (uint32_t i = 0; i < p->band_count; i++)
        draw_band(p, &p->bands[i]);
    draw_sets(p, HEAD + BANDS_HEIGHT + SET_GAP);
    svg_end(&p->svg);
}

static int read_pages(struct picture *p)
{
    struct trace_visitor visitor = memory_visitor;
    int error = memory_init(&p->memory, &p->scan);

    visitor.context = &p->memory;
    if (error == 0)
        error = trace_scan_run(&p->scan, &visitor);
    if (error == 0)
        error = symbols_open(&p->symbols, &p->scan.info, p->scan.symbols);
    if (error == 0)
        error = memory_finish(&p->memory, p->symbols);
    if (error == 0)
        error = choose(p);
    if (error != 0)
        return error;
    p->bins = p->memory.look_count < BINS ? p->memory.look_count : BINS;
    p->time = (struct plot_axis){.to = (double)memory_look_ns(&p->memory, p->memory.look_count - 1),
                                 .page_from = PLOT_LEFT,
                                 .page_to = PLOT_RIGHT};
    return lay_out(p);
}

int plot_memory(struct plot_options *options, FILE *out)
{
    struct picture *p = calloc(1, sizeof *p);
    struct trace_head head = {0};
    int error = p != NULL ? plot_open(options, &p->scan) : -ENOMEM;

    if (error != 0) {
        free(p);
        return error;
    }
    error = trace_scan_head(&p->scan, &head);
    if (error == 0 && head.accesses) {
        trace_scan_close(&p->scan);
        free(p);
        return plot_accesses(options, out);
    }
    if (error == 0)
        error = read_pages(p);
    for (size_t i = 0; error == 0 && i < p->memory.run_count; i++)
        add_run(p, &p->memory.runs[i]);
    if (error == 0)
        draw(p, out);
    if (error == 0 && p->svg.xml.bad)
        error = -ENOMEM;
    for (uint32_t i = 0; i < p->band_count; i++)
        free(p->bands[i].cells);
    memory_free(&p->memory);
    symbols_close(p->symbols);
    plot_close(options, &p->scan);
    free(p);
    return error;
}
