/* Draws where the time goes: a flame graph where the trace has call stacks, else bars. */
#include <errno.h>

#include "host/base/text.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"
#include "host/report/profile.h"
#include "host/report/report.h"

#define BARS_MAX 20u
#define SHARE_LEAST 0.1 /* percent */
#define BAR_PITCH 17.0
#define NAMES_RIGHT 250.0 /* where the names of bars end */
#define ROW 15.0 /* of a flame graph */
#define DEPTH_MAX 48u
#define FLAME_LEFT 16.0
#define WIDTH_LEAST 0.8 /* narrower frames are not drawn */
#define TOP 36.0

struct flame {
    const struct profile *profile;
    struct svg *svg;
    double bottom;
    uint64_t all;
};

static void draw_bar(struct svg *svg, const struct profile *p, const struct row *row,
                     const struct plot_axis *axis, double y)
{
    double share = report_share(row->self.samples, p->all.samples);
    char name[600], text[700], count[TEXT_QUANTITY_BYTES];

    report_function(name, sizeof name, &p->places.all[row->place]);
    snprintf(text, sizeof text, "%s: %s samples", name, text_count(count, row->self.samples));
    svg_rect(svg, NAMES_RIGHT, y, plot_axis_at(axis, share) - NAMES_RIGHT, BAR_PITCH - 5,
             svg_colour(0), text);
    svg_text_within(svg, 12, y + BAR_PITCH - 8, NAMES_RIGHT - 20, name);
    snprintf(text, sizeof text, "%.1f %%", share);
    svg_text(svg, plot_axis_at(axis, share) + 4, y + BAR_PITCH - 8, SVG_START, text);
}

/* The rows are sorted; the first one is drawn whatever it is. */
static uint32_t bar_count(const struct profile *p)
{
    uint32_t count = 1;

    while (count < p->rows.count && count < BARS_MAX &&
           report_share(p->rows.all[count].self.samples, p->all.samples) >= SHARE_LEAST)
        count++;
    return count;
}

static void draw_bars(const struct profile *p, FILE *out)
{
    uint32_t count = bar_count(p);
    double bottom = TOP + count * BAR_PITCH + 4;
    struct plot_axis axis = {.page_from = NAMES_RIGHT, .page_to = PLOT_RIGHT - 44};
    char title[PLOT_TITLE_BYTES], text[48];
    double ticks[PLOT_TICKS_MAX];
    struct svg svg;
    unsigned tick_count;

    axis.to = report_share(p->rows.all[0].self.samples, p->all.samples);
    plot_axis_round(&axis, 5);
    tick_count = plot_axis_ticks(&axis, 5, ticks);
    plot_title(title, &p->scan->info, "functions");
    svg_begin(&svg, out, bottom + 44, title);
    svg_text(&svg, 12, 16, SVG_START, title);
    for (unsigned i = 0; i < tick_count; i++) {
        double x = plot_axis_at(&axis, ticks[i]);

        svg_line(&svg, x, TOP - 6, x, bottom, SVG_PALE, 0.5);
        snprintf(text, sizeof text, "%g %%", ticks[i]);
        svg_text(&svg, x, bottom + SVG_TEXT + 3, SVG_MIDDLE, text);
    }
    for (uint32_t i = 0; i < count; i++)
        draw_bar(&svg, p, &p->rows.all[i], &axis, TOP + i * BAR_PITCH);
    svg_line(&svg, NAMES_RIGHT, TOP - 6, NAMES_RIGHT, bottom, SVG_INK, 1);
    if (p->rows.count > count) {
        snprintf(text, sizeof text, "and %u smaller ones", p->rows.count - count);
        svg_text(&svg, 12, bottom + SVG_TEXT + 3, SVG_START, text);
    }
    svg_text(&svg, (axis.page_from + axis.page_to) / 2, bottom + 2.4 * SVG_TEXT + 3, SVG_MIDDLE,
             "share of samples");
    svg_end(&svg);
}

/* Warm colours by name, the same in every picture; the kernel's are grey. */
static const char *flame_colour(const struct place *place)
{
    static const char *const colours[] = {"#f4b183", "#f7c99b", "#f2a26b", "#f9d9a8", "#eeb48c"};
    const char *name = place->name != NULL ? place->name : "";
    uint32_t hash = 0;

    if (place->kernel)
        return "#c8c8c8";
    while (*name != 0)
        hash = hash * 31 + (uint8_t)*name++;
    return colours[hash % (sizeof colours / sizeof colours[0])];
}

/* Draws a node's callees above it, the largest first, from left to right. */
static void draw_frames(const struct flame *f, uint32_t node, double left, double width,
                        unsigned depth)
{
    const struct tree *tree = &f->profile->tree;
    char name[600], text[700], amount[TEXT_QUANTITY_BYTES];
    bool waits = f->profile->options->waits;
    double x = left;

    for (uint32_t i = tree->first[node]; i < tree->first[node + 1] && depth < DEPTH_MAX; i++) {
        const struct tree_node *child = &tree->nodes[tree->children[i]];
        const struct place *place = &f->profile->places.all[child->place];
        double part = width * (double)child->total / (double)tree->nodes[node].total;
        double y = f->bottom - (depth + 1) * ROW;

        if (part < WIDTH_LEAST)
            break; /* the others are no larger */
        report_function(name, sizeof name, place);
        snprintf(text, sizeof text, "%s: %.2f %%, %s%s", name, report_share(child->total, f->all),
                 waits ? text_time(amount, (double)child->total) : text_count(amount, child->total),
                 waits ? "" : " samples");
        svg_rect(f->svg, x, y, part - 0.4, ROW - 0.8, flame_colour(place), text);
        svg_text_within(f->svg, x + 2, y + ROW - 4, part - 4, name);
        draw_frames(f, tree->children[i], x, part, depth + 1);
        x += part;
    }
}

/* The rows that draw_frames needs. */
static unsigned depth_of(const struct tree *tree, uint32_t node, double width, unsigned depth)
{
    unsigned most = depth;

    for (uint32_t i = tree->first[node]; i < tree->first[node + 1] && depth < DEPTH_MAX; i++) {
        const struct tree_node *child = &tree->nodes[tree->children[i]];
        double part = width * (double)child->total / (double)tree->nodes[node].total;
        unsigned below;

        if (part < WIDTH_LEAST)
            break;
        below = depth_of(tree, tree->children[i], part, depth + 1);
        most = below > most ? below : most;
    }
    return most;
}

static void draw_flame(const struct profile *p, FILE *out)
{
    double width = SVG_WIDTH - 2 * FLAME_LEFT;
    unsigned depth = depth_of(&p->tree, TREE_ROOT, width, 0);
    double bottom = TOP + depth * ROW;
    char title[PLOT_TITLE_BYTES];
    struct svg svg;
    struct flame flame = {p, &svg, bottom, p->all.samples};
    const char *width_is = p->options->waits ? "time that threads waited" : "samples";
    char text[128];

    plot_title(title, &p->scan->info, p->options->waits ? "where threads wait" : "call stacks");
    svg_begin(&svg, out, bottom + 24, title);
    svg_text(&svg, FLAME_LEFT, 16, SVG_START, title);
    draw_frames(&flame, TREE_ROOT, FLAME_LEFT, width, 0);
    svg_line(&svg, FLAME_LEFT, bottom, FLAME_LEFT + width, bottom, SVG_INK, 1);
    snprintf(text, sizeof text, "width: share of %s; %s", width_is,
             depth == DEPTH_MAX ? "deeper calls are left out" : "callers below");
    svg_text(&svg, FLAME_LEFT, bottom + 16, SVG_START, text);
    svg_end(&svg);
}

static int draw(struct plot_options *options, struct profile_options wanted, FILE *out)
{
    struct profile profile;
    struct trace_head head = {0};
    struct trace_scan scan;
    int error = plot_open(options, &scan);

    if (error != 0)
        return error;
    error = trace_scan_head(&scan, &head);
    if (error != 0) {
        trace_scan_close(&scan);
        return error;
    }
    wanted.tree = wanted.stacks = head.stacks;
    error = profile_run(&profile, &scan, &wanted, scan.jobs);
    if (error == 0 && profile.all.samples == 0)
        error = -ENODATA;
    if (error == 0)
        error = profile_sort(&profile, false);
    if (error == 0 && wanted.tree)
        draw_flame(&profile, out);
    else if (error == 0)
        draw_bars(&profile, out);
    profile_free(&profile);
    plot_close(options, &scan);
    return error;
}

int plot_functions(struct plot_options *options, FILE *out)
{
    return draw(options, (struct profile_options){.by = PLACE_FUNCTION}, out);
}

int plot_waits(struct plot_options *options, FILE *out)
{
    return draw(options, (struct profile_options){.by = PLACE_FUNCTION, .waits = true}, out);
}
