/* Writes pictures as SVG 1.1 for print: rectangles, lines, paths and text in sans-serif.
 *
 * A unit is a quarter of a millimetre; y grows downwards.  The output depends on the calls alone.
 * Text may be raw: it is escaped here.  Colours are the program's own constants.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "host/base/xml.h"

#define SVG_WIDTH 680.0 /* 170 mm: two columns of a paper */
#define SVG_TEXT 11.0 /* height of text: 7.8 points */
#define SVG_COLOURS 8u

struct svg {
    struct xml xml;
};

struct svg_point {
    double x;
    double y; /* not finite: the line is interrupted here */
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

void svg_begin(struct svg *svg, FILE *out, double height, const char *title);
void svg_end(struct svg *svg);

/* Draws a rectangle; `title` is its tooltip; NULL: none. */
void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *fill,
              const char *title);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *stroke,
              double width);

/* Draws a line through points. */
void svg_path(struct svg *svg, const struct svg_point *points, size_t count, const char *stroke,
              double width);

void svg_text(struct svg *svg, double x, double y, enum svg_anchor anchor, const char *text);

/* Draws text turned around its middle, to be read from below. */
void svg_text_up(struct svg *svg, double x, double y, const char *text);

/* Draws text that fits a width: cut, with dots, or not at all. */
void svg_text_within(struct svg *svg, double x, double y, double width, const char *text);

/* Returns one of eight colours that any colour vision can distinguish (Okabe and Ito, 2008). */
const char *svg_colour(unsigned number);

#define SVG_INK "#222222"
#define SVG_GREY "#888888"
#define SVG_PALE "#dddddd"
