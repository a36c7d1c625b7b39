/* Draws precise accesses over time and address: an object a band, nothing in between. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/memory/memory_map.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"

#define HEAD 48.0
#define LEFT 150.0 /* names of objects are longer than those of ranges */
#define BANDS 16u
#define BANDS_HEIGHT 340.0
#define BAND_LEAST 12.0
#define BAND_GAP 5.0
#define ROW 2.0 /* height of a cell */
#define BINS 256u
#define RATE_GAP 38.0
#define RATE_HEIGHT 72.0
#define FOOT 44.0
#define SHADES 5u
#define HUES 5u
#define LIFE "#dcdcdc" /* where an object of the heap is live */
#define LIVES_SHOWN 20000u

struct picture {
    struct trace_scan scan;
    struct memory_accesses accesses;
    struct memory_map map;
    double tops[MEMORY_MAP_BANDS], heights[MEMORY_MAP_BANDS];
    double end; /* of the bands */
    uint64_t most; /* records of a cell */
    char colours[HUES][SHADES][8];
    struct svg svg;
    struct plot_axis time;
};

/* From reads alone over as many to writes alone; lighter where there are fewer. */
static void mix_colours(struct picture *p)
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

/* Heights grow slowly with an object's size and with its accesses: a variable is seen next to a
 * table. */
static double weight_of(const struct memory_map *map, const struct memory_map_band *band)
{
    return pow((double)(band->end - band->start), 0.2) *
           pow((double)(band->reads + band->writes) / (double)map->records, 0.2);
}

/* The highest address is at the top. */
static void lay_out(struct picture *p, uint64_t block)
{
    struct memory_map *map = &p->map;
    double all = 0, y = HEAD, room = BANDS_HEIGHT - map->count * (BAND_LEAST + BAND_GAP);

    for (uint32_t i = 0; i < map->count; i++)
        all += weight_of(map, &map->bands[i]);
    for (uint32_t i = map->count; i-- > 0;) {
        struct memory_map_band *band = &map->bands[i];
        uint64_t bytes = band->end - band->start, rows;

        p->heights[i] = BAND_LEAST + room * weight_of(map, band) / all;
        rows = (uint64_t)(p->heights[i] / ROW);
        if (block != 0) {
            rows = (bytes + block - 1) / block;
            rows = rows < MEMORY_MAP_ROWS ? rows : MEMORY_MAP_ROWS;
            p->heights[i] = (double)rows * ROW > BAND_LEAST ? (double)rows * ROW : BAND_LEAST;
        }
        band->rows = (uint32_t)(rows < bytes ? rows : bytes);
        p->tops[i] = y;
        y += p->heights[i] + BAND_GAP;
    }
    p->end = y;
}

static const struct memory_map_cell *cell_at(const struct memory_map_band *band, uint32_t bin,
                                             uint32_t row)
{
    return &band->cells[(size_t)bin * band->rows + row];
}

/* A cell's colour, or NULL.  Shades are steps of the logarithm. */
static const char *colour(const struct picture *p, const struct memory_map_cell *cell)
{
    uint64_t all = (uint64_t)cell->reads + cell->writes;
    double share, strength;

    if (all == 0)
        return NULL;
    share = (double)cell->writes / (double)all;
    strength = p->most > 1 ? log((double)all) / log((double)p->most) : 1;
    return p
        ->colours[(uint32_t)(share * (HUES - 1) + 0.5)][(uint32_t)(strength * (SHADES - 1) + 0.5)];
}

/* Neighbouring cells of one colour become one rectangle. */
static void draw_row(struct picture *p, uint32_t n, uint32_t row)
{
    const struct memory_map_band *band = &p->map.bands[n];
    double height = p->heights[n] / band->rows;
    double y = p->tops[n] + (band->rows - 1 - row) * height;
    double width = (PLOT_RIGHT - LEFT) / p->map.wish.bins;
    uint32_t first = 0;

    for (uint32_t bin = 1; bin <= p->map.wish.bins; bin++) {
        const char *before = colour(p, cell_at(band, first, row));

        if (bin < p->map.wish.bins && colour(p, cell_at(band, bin, row)) == before)
            continue;
        if (before != NULL)
            svg_rect(&p->svg, LEFT + first * width, y, (bin - first) * width, height, before, NULL);
        first = bin;
    }
}

/* From its allocation until it was freed, as far as the picture shows it. */
static void draw_life(struct picture *p, uint32_t n, const struct memory_map_life *life)
{
    const struct memory_map *map = &p->map;
    const struct memory_map_band *band = &map->bands[n];
    uint64_t from = life->from_ns > map->from_ns ? life->from_ns : map->from_ns;
    uint64_t to = life->to_ns < map->to_ns ? life->to_ns : map->to_ns;
    uint64_t low = life->address > band->start ? life->address : band->start;
    uint64_t high =
        life->address + life->bytes < band->end ? life->address + life->bytes : band->end;
    double scale = p->heights[n] / (double)(band->end - band->start);
    char title[200], size[TEXT_QUANTITY_BYTES], time[2][TEXT_QUANTITY_BYTES];

    if (from >= to || low >= high)
        return;
    snprintf(title, sizeof title, "%s at 0x%lx, allocated at %s, %s%s",
             text_bytes(size, life->bytes), life->address,
             text_time(time[0], (double)life->from_ns),
             life->to_ns != UINT64_MAX ? "freed at " : "never freed",
             life->to_ns != UINT64_MAX ? text_time(time[1], (double)life->to_ns) : "");
    svg_rect(&p->svg, plot_axis_at(&p->time, (double)from),
             p->tops[n] + (double)(band->end - high) * scale,
             plot_axis_at(&p->time, (double)to) - plot_axis_at(&p->time, (double)from),
             (double)(high - low) * scale, LIFE, title);
}

static void draw_band(struct picture *p, uint32_t n)
{
    const struct memory_map_band *band = &p->map.bands[n];
    char title[MEMORY_NAME_BYTES + 200], reads[TEXT_QUANTITY_BYTES], writes[TEXT_QUANTITY_BYTES];

    snprintf(title, sizeof title, "%s, process %u: 0x%lx to 0x%lx, %s reads and %s writes recorded",
             band->name, band->pid, band->start, band->end, text_count(reads, band->reads),
             text_count(writes, band->writes));
    svg_rect(&p->svg, LEFT, p->tops[n], PLOT_RIGHT - LEFT, p->heights[n], "#f4f4f4", title);
    for (size_t i = 0; i < p->map.life_count && i < LIVES_SHOWN; i++)
        if (p->map.lives[i].key == band->first_key)
            draw_life(p, n, &p->map.lives[i]);
    for (uint32_t row = 0; row < band->rows; row++)
        draw_row(p, n, row);
    svg_text_within(&p->svg, 2, p->tops[n] + p->heights[n] / 2 + SVG_TEXT / 3, LEFT - 8,
                    band->name);
}

static uint64_t in_bin(const struct picture *p, uint32_t bin, bool writes)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < p->map.count; i++)
        for (uint32_t row = 0; row < p->map.bands[i].rows; row++) {
            const struct memory_map_cell *cell = cell_at(&p->map.bands[i], bin, row);

            sum += writes ? cell->writes : cell->reads;
        }
    return sum;
}

static void draw_rates(struct picture *p, double top)
{
    struct svg_point points[2 * BINS];
    struct plot_axis axis = {.page_from = top + RATE_HEIGHT, .page_to = top};
    double width = (PLOT_RIGHT - LEFT) / p->map.wish.bins;

    for (uint32_t bin = 0; bin < p->map.wish.bins; bin++)
        for (int writes = 0; writes < 2; writes++)
            if ((double)in_bin(p, bin, writes) > axis.to)
                axis.to = (double)in_bin(p, bin, writes);
    plot_axis_round(&axis, 2);
    plot_axis_left(&p->svg, &axis, LEFT, PLOT_RIGHT, 2, false);
    svg_text(&p->svg, LEFT, top - 6, SVG_START, "records of reads and writes in each column");
    for (int writes = 0; writes < 2; writes++) {
        for (uint32_t i = 0; i < 2 * p->map.wish.bins; i++) {
            uint32_t edge = i / 2 + i % 2;

            points[i] = (struct svg_point){LEFT + edge * width,
                                           plot_axis_at(&axis, (double)in_bin(p, i / 2, writes))};
        }
        svg_path(&p->svg, points, 2ul * p->map.wish.bins,
                 p->colours[writes ? HUES - 1 : 0][SHADES - 1], 1);
    }
    plot_axis_time(&p->svg, &p->time, top + RATE_HEIGHT, top, "time since the program's start");
}

static void draw_legend(struct picture *p)
{
    static const char *const words[] = {"read", "both", "written"};
    char text[120], count[TEXT_QUANTITY_BYTES];

    for (uint32_t kind = 0; kind < 3; kind++) {
        double x = LEFT + 122.0 * kind;

        for (uint32_t shade = 0; shade < SHADES; shade++)
            svg_rect(&p->svg, x + 12 * shade, HEAD - 22, 12, 10,
                     p->colours[kind * (HUES - 1) / 2][shade], NULL);
        svg_text(&p->svg, x + 12 * SHADES + 5, HEAD - 13, SVG_START, words[kind]);
    }
    if (p->map.life_count != 0) {
        svg_rect(&p->svg, 2, HEAD - 22, 24, 10, LIFE, NULL);
        svg_text(&p->svg, 31, HEAD - 13, SVG_START, "allocated");
    }
    snprintf(text, sizeof text, "darker: up to %s records", text_count(count, p->most));
    svg_text(&p->svg, PLOT_RIGHT, HEAD - 13, SVG_END, text);
}

static void draw(struct picture *p, FILE *out)
{
    char title[PLOT_TITLE_BYTES];

    mix_colours(p);
    for (uint32_t i = 0; i < p->map.count; i++)
        for (size_t n = 0; n < (size_t)p->map.wish.bins * p->map.bands[i].rows; n++) {
            const struct memory_map_cell *cell = &p->map.bands[i].cells[n];

            if ((uint64_t)cell->reads + cell->writes > p->most)
                p->most = (uint64_t)cell->reads + cell->writes;
        }
    svg_begin(&p->svg, out, p->end + RATE_GAP + RATE_HEIGHT + FOOT,
              plot_title(title, p->accesses.names.info, "accesses to memory"));
    draw_legend(p);
    for (uint32_t i = 0; i < p->map.count; i++)
        draw_band(p, i);
    draw_rates(p, p->end + RATE_GAP);
    svg_end(&p->svg);
}

int plot_accesses(struct plot_options *options, FILE *out)
{
    struct picture *p = calloc(1, sizeof *p);
    const struct memory_map_wish wish = {
        .from_address = options->from_address,
        .to_address = options->to_address != 0 ? options->to_address : UINT64_MAX,
        .bands = BANDS,
        .bins = BINS,
    };
    int error = p != NULL ? plot_open(options, &p->scan) : -ENOMEM;

    if (error != 0) {
        free(p);
        return error;
    }
    memory_accesses_init(&p->accesses, &p->scan, options->reader.path, 0);
    error = memory_map_find(&p->map, &p->accesses, &wish);
    if (error == 0) {
        lay_out(p, options->block_bytes);
        error = memory_map_count(&p->map);
    }
    if (error == 0) {
        p->time = (struct plot_axis){.from = (double)p->map.from_ns,
                                     .to = (double)p->map.to_ns,
                                     .page_from = LEFT,
                                     .page_to = PLOT_RIGHT};
        draw(p, out);
        error = p->svg.xml.bad ? -ENOMEM : 0;
    }
    memory_map_free(&p->map);
    memory_accesses_free(&p->accesses);
    plot_close(options, &p->scan);
    free(p);
    return error;
}
