/* Draws what changed from one trace to another: flame graphs with the widths of the one and of the
 * other, where frames that grew are red and those that shrank blue; without call stacks bars. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/diff/diff_tree.h"
#include "host/plot/plot.h"
#include "host/plot/plot_axis.h"

#define ROW 15.0
#define DEPTH_MAX 48u
#define LEFT 16.0
#define WIDTH_LEAST 0.8 /* narrower frames are not drawn */
#define TOP 52.0
#define TITLE 20.0 /* above each graph */
#define BARS_MAX 20u
#define BAR_PITCH 17.0
#define NAMES_RIGHT 250.0
#define KEY_WIDTH 120.0

struct flame {
    const struct diff_tree *tree;
    struct svg *svg;
    double bottom;
    int side; /* whose widths */
};

/* From blue (-1) over nearly white to red (1); small changes are seen, too. */
static void colour_of(double change, char colour[8])
{
    static const double ends[2][3] = {{33, 102, 172}, {178, 24, 43}}, middle = 238;
    double part = pow(fabs(change), 0.7);
    unsigned parts[3];

    for (int i = 0; i < 3; i++)
        parts[i] = (unsigned)lround(middle + part * 0.8 * (ends[change > 0][i] - middle));
    snprintf(colour, 8, "#%02x%02x%02x", parts[0] & 255, parts[1] & 255, parts[2] & 255);
}

/* "before 1,000 (10.0 %), after 1,200 (11.8 %), +200 (+20.00 %)" */
static void say_change(char *text, size_t room, const struct diff_tree *t, const uint64_t counts[2])
{
    char before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES], size[TEXT_QUANTITY_BYTES];
    const uint64_t *all = t->nodes[DIFF_TREE_ROOT].total;
    bool grew = counts[1] >= counts[0];
    char own[TEXT_QUANTITY_BYTES] = "";

    if (counts[0] == counts[1])
        strcpy(own, "equal");
    else if (counts[0] == 0 || counts[1] == 0)
        strcpy(own, counts[1] != 0 ? "new" : "gone");
    else
        snprintf(own, sizeof own, "%+.2f %%",
                 100 * ((double)counts[1] - (double)counts[0]) / (double)counts[0]);
    snprintf(text, room, "before %s (%.2f %%), after %s (%.2f %%): %s%s %s (%s)",
             text_count(before, counts[0]),
             all[0] != 0 ? 100 * (double)counts[0] / (double)all[0] : 0,
             text_count(after, counts[1]),
             all[1] != 0 ? 100 * (double)counts[1] / (double)all[1] : 0, grew ? "+" : "-",
             text_count(size, grew ? counts[1] - counts[0] : counts[0] - counts[1]), t->event, own);
}

/* The part of a width that a child has. */
static double part_of(const struct flame *f, uint32_t node, uint32_t child, double width)
{
    return width * (double)f->tree->nodes[child].total[f->side] /
           (double)f->tree->nodes[node].total[f->side];
}

static void draw_frames(const struct flame *f, uint32_t node, double left, double width,
                        unsigned depth)
{
    const struct diff_tree *t = f->tree;
    char text[1400], colour[8], words[400];
    double x = left;

    for (uint32_t i = t->first[node]; i < t->first[node + 1] && depth < DEPTH_MAX; i++) {
        const struct diff_tree_node *child = &t->nodes[t->children[i]];
        const char *name = t->functions[child->function].name;
        double part = part_of(f, node, t->children[i], width);
        double y = f->bottom - (depth + 1) * ROW;

        if (part >= WIDTH_LEAST) {
            colour_of(diff_tree_change(t, child), colour);
            say_change(words, sizeof words, t, child->total);
            snprintf(text, sizeof text, "%.900s: %s", name, words);
            svg_rect(f->svg, x, y, part - 0.4, ROW - 0.8, colour, text);
            svg_text_within(f->svg, x + 2, y + ROW - 4, part - 4, name);
            draw_frames(f, t->children[i], x, part, depth + 1);
        }
        x += part;
    }
}

/* The rows that draw_frames needs. */
static unsigned depth_of(const struct flame *f, uint32_t node, double width, unsigned depth)
{
    const struct diff_tree *t = f->tree;
    unsigned most = depth;

    for (uint32_t i = t->first[node]; i < t->first[node + 1] && depth < DEPTH_MAX; i++) {
        double part = part_of(f, node, t->children[i], width);

        if (part >= WIDTH_LEAST) {
            unsigned below = depth_of(f, t->children[i], part, depth + 1);

            most = below > most ? below : most;
        }
    }
    return most;
}

static void draw_key(struct svg *svg, double right, double y)
{
    char colour[8];

    for (int i = 0; i < 21; i++) {
        colour_of((i - 10) / 10.0, colour);
        svg_rect(svg, right - KEY_WIDTH + i * KEY_WIDTH / 21, y - 8, KEY_WIDTH / 21 + 0.2, 9,
                 colour, NULL);
    }
    svg_text(svg, right - KEY_WIDTH - 6, y, SVG_END, "gone");
    svg_text(svg, right - KEY_WIDTH / 2, y + 14, SVG_MIDDLE, "equal");
    svg_text(svg, right + 6, y, SVG_START, "new");
}

static void draw_head(struct svg *svg, const struct diff_tree *t, const char *title)
{
    const uint64_t *all = t->nodes[DIFF_TREE_ROOT].total;
    char words[400];

    svg_text(svg, LEFT, 16, SVG_START, title);
    say_change(words, sizeof words, t, all);
    svg_text_within(svg, LEFT, 34, SVG_WIDTH - 2 * LEFT, words);
}

static void draw_flames(const struct diff_tree *t, FILE *out, const char *title)
{
    static const char *const titles[] = {"widths: before", "widths: after"};
    double width = SVG_WIDTH - 2 * LEFT, y = TOP;
    struct svg svg;
    struct flame flames[2];
    unsigned depths[2];
    double height = TOP;

    for (int i = 0; i < 2; i++) {
        flames[i] = (struct flame){t, &svg, 0, 1 - i};
        depths[i] = depth_of(&flames[i], DIFF_TREE_ROOT, width, 0);
        height += TITLE + depths[i] * ROW + 12;
    }
    svg_begin(&svg, out, height + 24, title);
    draw_head(&svg, t, title);
    for (int i = 0; i < 2; i++) {
        svg_text(&svg, LEFT, y + 8, SVG_START, titles[flames[i].side]);
        flames[i].bottom = y + TITLE + depths[i] * ROW;
        draw_frames(&flames[i], DIFF_TREE_ROOT, LEFT, width, 0);
        svg_line(&svg, LEFT, flames[i].bottom, LEFT + width, flames[i].bottom, SVG_INK, 1);
        y = flames[i].bottom + 12;
    }
    svg_text(&svg, LEFT, height + 6, SVG_START,
             t->strides[0] > 0 || t->strides[1] > 0
                 ? "callers below; white: no more than chance changed"
                 : "callers below; colour: how much a frame changed");
    draw_key(&svg, SVG_WIDTH - LEFT - 30, height + 6);
    svg_end(&svg);
}

struct bar {
    uint32_t function;
    uint64_t counts[2];
};

static int by_change(const void *x, const void *y)
{
    const struct bar *a = x, *b = y;
    double left = fabs((double)a->counts[1] - (double)a->counts[0]);
    double right = fabs((double)b->counts[1] - (double)b->counts[0]);

    return left > right   ? -1
           : left < right ? 1
                          : (a->function > b->function) - (a->function < b->function);
}

static void draw_bar(struct svg *svg, const struct diff_tree *t, const struct bar *bar,
                     double middle, double scale, double y)
{
    double change = (double)bar->counts[1] - (double)bar->counts[0], x = middle + change * scale;
    char text[1400], words[400], colour[8], size[TEXT_QUANTITY_BYTES + 1];
    const char *name = t->functions[bar->function].name;

    colour_of(change > 0 ? 1 : -1, colour);
    say_change(words, sizeof words, t, bar->counts);
    snprintf(text, sizeof text, "%.900s: %s", name, words);
    svg_rect(svg, change > 0 ? middle : x, y, fabs(x - middle) + 0.2, BAR_PITCH - 5, colour, text);
    svg_text_within(svg, 12, y + BAR_PITCH - 8, NAMES_RIGHT - 20, name);
    size[0] = change > 0 ? '+' : '-';
    text_count(size + 1, (uint64_t)fabs(change));
    svg_text(svg, change > 0 ? x + 4 : x - 4, y + BAR_PITCH - 8, change > 0 ? SVG_START : SVG_END,
             size);
}

static int draw_bars(const struct diff_tree *t, FILE *out, const char *title)
{
    struct bar *bars = calloc((size_t)t->function_count + 1, sizeof bars[0]);
    double bottom, most[2] = {0, 0}, middle, scale;
    uint32_t count = 0;
    struct svg svg;

    if (bars == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->function_count; i++)
        bars[i].function = i;
    for (uint32_t i = 1; i < t->node_count; i++)
        for (int side = 0; side < 2; side++)
            bars[t->nodes[i].function].counts[side] += t->nodes[i].self[side];
    qsort(bars, t->function_count, sizeof bars[0], by_change);
    while (count < t->function_count && count < BARS_MAX &&
           bars[count].counts[0] != bars[count].counts[1]) {
        double change = (double)bars[count].counts[1] - (double)bars[count].counts[0];

        most[change > 0] = fmax(most[change > 0], fabs(change));
        count++;
    }
    scale = (PLOT_RIGHT - NAMES_RIGHT - 180) / fmax(most[0] + most[1], 1);
    middle = NAMES_RIGHT + 90 + most[0] * scale;
    bottom = TOP + count * BAR_PITCH + 4;
    svg_begin(&svg, out, bottom + 28, title);
    draw_head(&svg, t, title);
    for (uint32_t i = 0; i < count; i++)
        draw_bar(&svg, t, &bars[i], middle, scale, TOP + i * BAR_PITCH);
    svg_line(&svg, middle, TOP - 6, middle, bottom, SVG_INK, 1);
    svg_text(&svg, middle - 6, bottom + SVG_TEXT + 5, SVG_END, count != 0 ? "less after" : "");
    svg_text(&svg, middle + 6, bottom + SVG_TEXT + 5, SVG_START,
             count != 0 ? "more after" : "no function changed");
    svg_end(&svg);
    free(bars);
    return 0;
}

int plot_diff(struct plot_options *options, FILE *out)
{
    const char *const paths[2] = {options->before, options->reader.path};
    char title[PLOT_TITLE_BYTES], before[PLOT_TITLE_BYTES / 3], after[PLOT_TITLE_BYTES / 3];
    struct diff_tree tree;
    int failed = 0;
    int error = diff_tree_read(&tree, paths, &options->reader.selection, &options->reader.symbols,
                               options->event, &failed);

    if (error != 0 && failed < 2)
        options->failed = paths[failed];
    snprintf(title, sizeof title, "from %s to %s: %s by function",
             text_escape(before, sizeof before, tree.programs[0]),
             text_escape(after, sizeof after, tree.programs[1]), tree.event);
    if (error == 0 && tree.stacks)
        draw_flames(&tree, out, title);
    else if (error == 0)
        error = draw_bars(&tree, out, title);
    options->incomplete |= tree.incomplete[1];
    diff_tree_free(&tree);
    return error;
}
