/* hr sweep plot: the correlation of every event with every other, those that are alike together. */
#include <ctype.h>
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
#include "host/base/text.h"
#include "host/draw/svg.h"
#include "host/sweep/show/sweep_correlation.h"
#include "host/sweep/show/sweep_show.h"

#define SHADES 10 /* of each sign */
#define NAMES_WIDTH 290.0
#define WIDE 0.75 /* how much of the room text in capitals may take */
#define NARROW 1.08 /* and text without any */
#define ROW 13.0
#define HEAD 62.0
#define SURE 0.001 /* the chance below which the picture calls a correlation no accident */
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
    const struct sweep_measured *a = p->of.events[row], *b = p->of.events[from];
    double correlation = *sweep_correlation_of(&p->of, row, from);
    char fill[8], tip[800], chance[SWEEP_CHANCE_BYTES];
    int shade = shade_of(p, row, from);

    if (shade == 0 && p->of.count > TIPS_MAX)
        return;
    snprintf(tip, sizeof tip, "%.80s (%.250s), %.80s (%.250s): %.3f (%zu parts, chance %s)",
             a->name, a->description, b->name, b->description, correlation, p->of.parts,
             sweep_correlation_chance(correlation, p->of.parts, chance));
    svg_rect(&p->svg, NAMES_WIDTH + (double)from * p->cell, y, (double)(to - from) * p->cell, ROW,
             colour(shade, fill), p->of.count <= TIPS_MAX ? tip : NULL);
}

/* Events are named in capitals, and described in small letters. */
static double room_for(const char *name)
{
    size_t wide = 0, count = 0;

    for (; name[count] != 0; count++)
        wide += isupper((unsigned char)name[count]) || name[count] == '_';
    return (NAMES_WIDTH - 6) * (NARROW - (NARROW - WIDE) * (double)wide / (double)(count + 1));
}

/* In a large picture neighbours of one shade are one rectangle. */
static void draw_row(struct picture *p, size_t row)
{
    double y = HEAD + (double)row * ROW;
    const struct sweep_measured *event = p->of.events[row];
    char name[400], alike[40] = "";

    if (p->of.equal[row] != 0)
        snprintf(alike, sizeof alike, " and %zu alike", p->of.equal[row]);
    snprintf(name, sizeof name, "%.80s%s: %.250s", event->name, alike, event->description);
    svg_text_within(&p->svg, 4, y + ROW - 3, room_for(name), name);
    for (size_t from = 0, to; from < p->of.count; from = to) {
        to = from + 1;
        while (p->of.count > TIPS_MAX && to < p->of.count &&
               shade_of(p, row, to) == shade_of(p, row, from))
            to++;
        draw_cells(p, row, from, to, y);
    }
}

static void draw_notes(struct picture *p)
{
    double least = sweep_correlation_least(SURE, p->of.parts);
    char note[160], size[TEXT_QUANTITY_BYTES];

    snprintf(note, sizeof note,
             "%zu different series of events%s, over %zu parts of %s instructions", p->of.count,
             p->of.left_out != 0 ? " (the first ones)" : "", p->of.parts,
             text_count(size, p->of.data->bins > 1 ? (uint64_t)p->of.data->starts[1] : 0));
    svg_text(&p->svg, 4, 36, SVG_START, note);
    snprintf(note, sizeof note,
             least <= 1 ? "from %.2f on, either way: less than 0.1 %% by chance"
                        : "with so few parts each can be chance",
             least);
    svg_text(&p->svg, 4, 52, SVG_START, note);
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
    char title[300];

    snprintf(title, sizeof title, "Correlation of events: %.200s", p->of.data->program);
    p->cell = (SVG_WIDTH - NAMES_WIDTH - 10) / (double)p->of.count;
    svg_begin(&p->svg, out, HEAD + (double)p->of.count * ROW + 10, title);
    svg_text_within(&p->svg, 4, 16, SVG_WIDTH - 10, title);
    draw_notes(p);
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
