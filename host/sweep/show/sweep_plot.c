/* hr sweep plot: the correlation of every event with every other, those that are alike together. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/output.h"
#include "host/base/output_file.h"
#include "host/draw/svg.h"
#include "host/sweep/show/sweep_correlation.h"
#include "host/sweep/show/sweep_show.h"

#define SHADES 10 /* of each sign */
#define NAMES_WIDTH 290.0
#define CAPITALS 0.8 /* how much of the room text in capitals may take */
#define ROW 13.0
#define HEAD 62.0
#define TIPS_MAX 64u /* events of a picture whose cells have tooltips */

struct picture {
    struct sweep_correlation of;
    double cell; /* width */
    struct svg svg;
};

/* From blue (-1) over white to red (+1): ColorBrewer's RdBu, which colour-blind people can tell. */
static const char *colour(int shade, char text[8])
{
    double share = (double)abs(shade) / SHADES;
    const double end[3] = {shade < 0 ? 0x21 : 0xb2, shade < 0 ? 0x66 : 0x18,
                           shade < 0 ? 0xac : 0x2b};

    snprintf(text, 8, "#%02x%02x%02x", (unsigned)(255 + share * (end[0] - 255)),
             (unsigned)(255 + share * (end[1] - 255)), (unsigned)(255 + share * (end[2] - 255)));
    return text;
}

static int shade_of(struct picture *p, size_t row, size_t column)
{
    return (int)lround(*sweep_correlation_of(&p->of, row, column) * SHADES);
}

static void draw_cells(struct picture *p, size_t row, size_t from, size_t to, double y)
{
    char fill[8], tip[256];
    int shade = shade_of(p, row, from);

    if (shade == 0 && p->of.count > TIPS_MAX)
        return;
    snprintf(tip, sizeof tip, "%s, %s: %.3f (%zu parts, chance %.2g)", p->of.events[row]->name,
             p->of.events[from]->name, *sweep_correlation_of(&p->of, row, from), p->of.parts,
             trial_significance(*sweep_correlation_of(&p->of, row, from), p->of.parts));
    svg_rect(&p->svg, NAMES_WIDTH + (double)from * p->cell, y, (double)(to - from) * p->cell, ROW,
             colour(shade, fill), p->of.count <= TIPS_MAX ? tip : NULL);
}

/* In a large picture neighbours of one shade are one rectangle. */
static void draw_row(struct picture *p, size_t row)
{
    double y = HEAD + (double)row * ROW;
    char name[128];

    snprintf(name, sizeof name, p->of.equal[row] != 0 ? "%.80s and %zu alike" : "%.80s",
             p->of.events[row]->name, p->of.equal[row]);
    svg_text_within(&p->svg, 4, y + ROW - 3, CAPITALS * (NAMES_WIDTH - 6), name);
    for (size_t from = 0, to; from < p->of.count; from = to) {
        to = from + 1;
        while (p->of.count > TIPS_MAX && to < p->of.count &&
               shade_of(p, row, to) == shade_of(p, row, from))
            to++;
        draw_cells(p, row, from, to, y);
    }
}

static void draw_legend(struct picture *p)
{
    const double width = 12, x = SVG_WIDTH - 10 - (2 * SHADES + 1) * width;
    char fill[8];

    for (int shade = -SHADES; shade <= SHADES; shade++)
        svg_rect(&p->svg, x + (shade + SHADES) * width, 28, width, 10, colour(shade, fill), NULL);
    svg_text(&p->svg, x, 52, SVG_START, "-1: opposite");
    svg_text(&p->svg, x + SHADES * width, 52, SVG_MIDDLE, "0: none");
    svg_text(&p->svg, SVG_WIDTH - 10, 52, SVG_END, "1: together");
}

static void draw(struct picture *p, FILE *out)
{
    char title[300], note[160];

    snprintf(title, sizeof title, "Correlation of events: %.200s", p->of.data->program);
    snprintf(note, sizeof note,
             "%zu different series of events%s, over %zu parts of %.0f instructions", p->of.count,
             p->of.left_out != 0 ? " (the first ones)" : "", p->of.parts,
             p->of.data->bins > 1 ? p->of.data->starts[1] : 0);
    p->cell = (SVG_WIDTH - NAMES_WIDTH - 10) / (double)p->of.count;
    svg_begin(&p->svg, out, HEAD + (double)p->of.count * ROW + 10, title);
    svg_text_within(&p->svg, 4, 16, SVG_WIDTH - 10, title);
    svg_text(&p->svg, 4, 36, SVG_START, note);
    draw_legend(p);
    for (size_t i = 0; i < p->of.count; i++)
        draw_row(p, i);
    svg_end(&p->svg);
}

static int write_picture(struct picture *p, const char *path)
{
    const struct output_file_wish wish = {.kind = OUTPUT_PICTURE};
    struct run_failure failure = {0};
    struct output_file file;
    FILE *out;
    bool good;

    if (output_file_open(&file, path, &wish, &failure) != 0)
        return error_exit(HR_EXIT_FAILED, "%s", failure.text);
    out = fdopen(dup(file.fd), "w");
    if (out != NULL)
        draw(p, out);
    good = out != NULL && fclose(out) == 0;
    if (!good)
        run_fail(&failure, "cannot write '%s': %s", path, strerror(errno));
    if (output_file_finish(&file, good, &failure) == 0 && good)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "%s", failure.text);
}

int sweep_plot(const struct sweep_data *data, const char *path)
{
    static struct picture p;
    int status = HR_EXIT_FAILED;

    if (sweep_correlation_make(&p.of, data) != 0)
        error_print("out of memory; end other programs");
    else if (p.of.count < 2)
        error_print("fewer than two events changed from part to part: there is nothing to draw");
    else
        status = write_picture(&p, path);
    sweep_correlation_free(&p.of);
    return status;
}
