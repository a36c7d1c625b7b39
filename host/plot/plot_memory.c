/* Draws memory over time and address: an object or a range a band, nothing in between. */
#include <errno.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/memory/map/memory_map_print.h"
#include "host/plot/plot_memory.h"

#define HEAD 48.0
#define BAND_LEAST 12.0
#define BAND_GAP 5.0
#define ROW 2.0 /* height of a cell */
#define BELOW_GAP 38.0
#define FOOT 44.0
#define HUES PLOT_MEMORY_HUES
#define SHADES PLOT_MEMORY_SHADES
#define LEFT PLOT_MEMORY_LEFT

#define LIFE_LEAST 1.5 /* height of an object that is drawn by itself */

/* Where some, more than a third, more than two thirds of a cell is allocated: with accesses, and
 * without. */
static const char *const live_colours[2][3] = {{"#e2e2e2", "#d0d0d0", "#bfbfbf"},
                                               {"#c5e3d6", "#86c5a8", "#3d9b72"}};

static const char *live_colour(const struct plot_memory *p, double share)
{
    return live_colours[p->map.of == MEMORY_MAP_ALLOCATIONS][share > 2.0 / 3   ? 2
                                                             : share > 1.0 / 3 ? 1
                                                                               : 0];
}

static void mix_colours(struct plot_memory *p)
{
    static const double read[3] = {0x00, 0x72, 0xb2}, both[3] = {0x7b, 0x3f, 0x98},
                        written[3] = {0xd5, 0x5e, 0x00};

    for (uint32_t hue = 0; hue < HUES; hue++)
        for (uint32_t shade = 0; shade < SHADES; shade++) {
            double share = (double)hue / (HUES - 1), strength = 0.22 + 0.78 * shade / (SHADES - 1);
            unsigned int parts[3];

            for (int i = 0; i < 3; i++) {
                double full = share < 0.5 ? read[i] + (both[i] - read[i]) * 2 * share
                                          : both[i] + (written[i] - both[i]) * (2 * share - 1);

                parts[i] = (unsigned int)(255 + (full - 255) * strength + 0.5) & 0xff;
            }
            snprintf(p->colours[hue][shade], 8, "#%02x%02x%02x", parts[0], parts[1], parts[2]);
        }
}

/* The highest address is at the top. */
static void lay_out(struct plot_memory *p)
{
    double y = HEAD;

    for (uint32_t i = p->map.count; i-- > 0;) {
        p->heights[i] = ROW * p->map.bands[i].rows;
        if (p->heights[i] < BAND_LEAST)
            p->heights[i] = BAND_LEAST;
        p->tops[i] = y;
        y += p->heights[i] + BAND_GAP;
    }
    p->end = y;
}

/* The colour of a cell's accesses, or of what is allocated in it; NULL: nothing. */
static const char *colour(const struct plot_memory *p, const struct memory_map_band *band,
                          uint32_t bin, uint32_t row, bool accesses)
{
    const struct memory_map_cell *cell = memory_map_cell(band, bin, row);
    double all = (double)memory_map_records(cell), live = memory_map_live(band, bin, row);
    uint32_t hue, shade;

    if (!accesses)
        return live > 0 ? live_colour(p, live) : NULL;
    if (all <= 0)
        return NULL;
    hue = (uint32_t)(cell->writes / all * (HUES - 1) + 0.5);
    shade = (uint32_t)(memory_map_strength(&p->map, band, cell) * (SHADES - 1) + 0.5);
    return p->colours[hue][shade];
}

/* Neighbouring cells of one colour become one rectangle. */
static void draw_row(struct plot_memory *p, uint32_t n, uint32_t row, bool accesses)
{
    const struct memory_map_band *band = &p->map.bands[n];
    double height = p->heights[n] / band->rows;
    double y = p->tops[n] + (band->rows - 1 - row) * height;
    double width = (PLOT_RIGHT - LEFT) / p->map.bins;
    uint32_t first = 0;

    for (uint32_t bin = 1; bin <= p->map.bins; bin++) {
        const char *before = colour(p, band, first, row, accesses);

        if (bin < p->map.bins && colour(p, band, bin, row, accesses) == before)
            continue;
        if (before != NULL)
            svg_rect(&p->svg, LEFT + first * width, y, (bin - first) * width, height, before, NULL);
        first = bin;
    }
}

/* From its allocation until it was freed, as far as the picture shows it. */
static void draw_life(struct plot_memory *p, const struct memory_map_life *life)
{
    const struct memory_map *map = &p->map;
    const struct memory_map_band *band = &map->bands[life->band];
    uint64_t from = life->from_ns > map->from_ns ? life->from_ns : map->from_ns;
    uint64_t to = life->to_ns < map->to_ns ? life->to_ns : map->to_ns;
    uint64_t low = life->address > band->start ? life->address : band->start;
    uint64_t high =
        life->address + life->bytes < band->end ? life->address + life->bytes : band->end;
    double scale = p->heights[life->band] / (double)(band->end - band->start);
    char title[200], size[TEXT_QUANTITY_BYTES], time[2][TEXT_QUANTITY_BYTES];

    if ((double)(high - low) * scale < LIFE_LEAST)
        return;
    snprintf(title, sizeof title, "%s at 0x%lx, allocated at %s, %s%s",
             text_bytes(size, life->bytes), life->address,
             text_time(time[0], (double)life->from_ns),
             life->to_ns != UINT64_MAX ? "freed at " : "never freed",
             life->to_ns != UINT64_MAX ? text_time(time[1], (double)life->to_ns) : "");
    svg_rect(&p->svg, plot_axis_at(&p->time, (double)from),
             p->tops[life->band] + (double)(band->end - high) * scale,
             plot_axis_at(&p->time, (double)to) - plot_axis_at(&p->time, (double)from),
             (double)(high - low) * scale, live_colour(p, 1), title);
}

static void draw_band(struct plot_memory *p, uint32_t n)
{
    const struct memory_map_band *band = &p->map.bands[n];
    char title[MEMORY_NAME_BYTES + 200], sums[MEMORY_MAP_PRINT_SUMS];

    snprintf(title, sizeof title, "%s, process %u: 0x%lx to 0x%lx, %s", band->name, band->pid,
             band->start, band->end, memory_map_print_sums(&p->map, band, sums));
    svg_rect(&p->svg, LEFT, p->tops[n], PLOT_RIGHT - LEFT, p->heights[n], "#f4f4f4", title);
    for (uint32_t row = 0; row < band->rows; row++)
        draw_row(p, n, row, false);
    for (uint32_t i = 0; i < p->map.life_count; i++)
        if (p->map.lives[i].band == n)
            draw_life(p, &p->map.lives[i]);
    for (uint32_t row = 0; row < band->rows; row++)
        draw_row(p, n, row, true);
    svg_text_within(&p->svg, 2, p->tops[n] + p->heights[n] / 2 + SVG_TEXT / 3, LEFT - 8,
                    band->name);
}

static void draw_legend(struct plot_memory *p)
{
    static const char *const words[] = {"read", "both", "written"};
    char text[120], count[TEXT_QUANTITY_BYTES];

    for (uint32_t kind = 0; kind < 3 && p->map.of != MEMORY_MAP_ALLOCATIONS; kind++) {
        double x = LEFT + 122.0 * kind;

        for (uint32_t shade = 0; shade < SHADES; shade++)
            svg_rect(&p->svg, x + 12 * shade, HEAD - 22, 12, 10,
                     p->colours[kind * (HUES - 1) / 2][shade], NULL);
        svg_text(&p->svg, x + 12 * SHADES + 5, HEAD - 13, SVG_START, words[kind]);
    }
    if (p->map.lives != NULL) {
        svg_rect(&p->svg, 2, HEAD - 22, 24, 10, live_colour(p, 1), NULL);
        svg_text(&p->svg, 31, HEAD - 13, SVG_START, "allocated");
    }
    if (p->map.of == MEMORY_MAP_ACCESSES)
        snprintf(text, sizeof text, "darker: up to %s records", text_count(count, p->map.most));
    else
        snprintf(text, sizeof text, "darker: more of %s",
                 p->map.of == MEMORY_MAP_PAGES ? "the pages" : "it is allocated");
    svg_text(&p->svg, PLOT_RIGHT, HEAD - 13, SVG_END, text);
}

static void draw(struct plot_memory *p, FILE *out)
{
    static const char *const what[] = {[MEMORY_MAP_ACCESSES] = "accesses to memory",
                                       [MEMORY_MAP_PAGES] = "pages that were touched",
                                       [MEMORY_MAP_ALLOCATIONS] = "allocated memory"};
    char title[PLOT_TITLE_BYTES];

    mix_colours(p);
    lay_out(p);
    p->time = (struct plot_axis){.from = (double)p->map.from_ns,
                                 .to = (double)p->map.to_ns,
                                 .page_from = LEFT,
                                 .page_to = PLOT_RIGHT};
    svg_begin(&p->svg, out, p->end + BELOW_GAP + PLOT_MEMORY_BELOW + FOOT,
              plot_title(title, &p->scan.info, what[p->map.of]));
    draw_legend(p);
    for (uint32_t i = 0; i < p->map.count; i++)
        draw_band(p, i);
    plot_memory_below(p, p->end + BELOW_GAP);
    svg_end(&p->svg);
}

int plot_memory(struct plot_options *options, FILE *out)
{
    struct plot_memory *p = calloc(1, sizeof *p);
    const struct memory_map_wish wish = {
        .from_address = options->from_address,
        .to_address = options->to_address != 0 ? options->to_address : UINT64_MAX,
        .block_bytes = options->block_bytes,
        .bands = 16,
        .bins = PLOT_MEMORY_BINS,
        .lives = 20000,
        .rows = 170,
        .rows_least = 6,
        .jobs = (unsigned int)options->reader.jobs,
    };
    int error = p != NULL ? plot_open(options, &p->scan) : -ENOMEM;

    if (error != 0) {
        free(p);
        return error;
    }
    error = memory_map_read(&p->map, &p->scan, options->reader.path, &wish);
    if (error == 0)
        draw(p, out);
    if (error == 0 && p->svg.xml.bad)
        error = -ENOMEM;
    memory_map_free(&p->map);
    plot_close(options, &p->scan);
    free(p);
    return error;
}
