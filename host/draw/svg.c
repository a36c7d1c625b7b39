/* Writes SVG elements. */
#include "host/draw/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/output_kind.h"
#include "host/base/text.h"

#define TEXT_BYTES 1024
#define CHARACTER_WIDTH 0.56 /* of a character's height, on average */

const char *svg_colour(unsigned number)
{
    static const char *const colours[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#56b4e9", "#e69f00", "#000000", "#f0e442"};

    return colours[number % SVG_COLOURS];
}

void svg_begin(struct svg *svg, FILE *out, double height, const char *title)
{
    char safe[TEXT_BYTES];

    fputs(OUTPUT_MARK_PICTURE, out);
    xml_init(&svg->xml, out);
    xml_start(&svg->xml,
              "svg xmlns='http://www.w3.org/2000/svg' version='1.1' width='%gmm' height='%gmm' "
              "viewBox='0 0 %g %g'",
              SVG_WIDTH / 4, height / 4, SVG_WIDTH, height);
    xml_attribute(&svg->xml, "font-family", "Helvetica, Arial, 'Liberation Sans', sans-serif");
    xml_attribute(&svg->xml, "font-size", "%g", SVG_TEXT);
    xml_element(&svg->xml, "title", text_escape(safe, sizeof safe, title));
    svg_rect(svg, 0, 0, SVG_WIDTH, height, "#ffffff", NULL);
}

void svg_end(struct svg *svg)
{
    xml_end(&svg->xml);
}

void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *fill,
              const char *title)
{
    char safe[TEXT_BYTES];

    xml_start(&svg->xml, "rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'", x, y, width,
              height, fill);
    if (title != NULL)
        xml_element(&svg->xml, "title", text_escape(safe, sizeof safe, title));
    xml_end(&svg->xml);
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *stroke,
              double width)
{
    xml_empty(&svg->xml,
              "line x1='%.2f' y1='%.2f' x2='%.2f' y2='%.2f' stroke='%s' stroke-width='%g'", x1, y1,
              x2, y2, stroke, width);
}

void svg_path(struct svg *svg, const struct svg_point *points, size_t count, const char *stroke,
              double width)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    bool open = false;

    for (size_t i = 0; i < count && memory != NULL; i++) {
        bool known = isfinite(points[i].x) && isfinite(points[i].y);

        if (known)
            fprintf(memory, "%c%.2f %.2f", open ? 'L' : 'M', points[i].x, points[i].y);
        open = known;
    }
    if (memory == NULL || fclose(memory) != 0)
        svg->xml.bad = true;
    else if (bytes != 0) {
        xml_empty(&svg->xml,
                  "path d='%s' fill='none' stroke='%s' stroke-width='%g' stroke-linejoin='round'",
                  text, stroke, width);
    }
    free(text);
}

static void start_text(struct svg *svg, double x, double y, enum svg_anchor anchor)
{
    static const char *const anchors[] = {"start", "middle", "end"};

    xml_start(&svg->xml, "text x='%.2f' y='%.2f' fill='%s'", x, y, SVG_INK);
    if (anchor != SVG_START)
        xml_attribute(&svg->xml, "text-anchor", "%s", anchors[anchor]);
}

void svg_text(struct svg *svg, double x, double y, enum svg_anchor anchor, const char *text)
{
    char safe[TEXT_BYTES];

    start_text(svg, x, y, anchor);
    xml_text(&svg->xml, "%s", text_escape(safe, sizeof safe, text));
    xml_end(&svg->xml);
}

void svg_text_up(struct svg *svg, double x, double y, const char *text)
{
    char safe[TEXT_BYTES];

    start_text(svg, x, y, SVG_MIDDLE);
    xml_attribute(&svg->xml, "transform", "rotate(-90 %.2f %.2f)", x, y);
    xml_text(&svg->xml, "%s", text_escape(safe, sizeof safe, text));
    xml_end(&svg->xml);
}

void svg_text_within(struct svg *svg, double x, double y, double width, const char *text)
{
    char safe[TEXT_BYTES];
    size_t room = width > 0 ? (size_t)(width / (SVG_TEXT * CHARACTER_WIDTH)) : 0;
    size_t characters = 0, end = 0;

    if (room < 3)
        return;
    text_escape(safe, sizeof safe, text);
    while (safe[end] != 0 && characters < room) {
        do
            end++;
        while ((safe[end] & 0xc0) == 0x80); /* the remaining bytes of a character */
        characters++;
    }
    if (safe[end] != 0) { /* two dots replace what is cut */
        while (characters > room - 2 && end > 0) {
            do
                end--;
            while (end > 0 && (safe[end] & 0xc0) == 0x80);
            characters--;
        }
        memcpy(safe + end, "..", 3);
    }
    start_text(svg, x, y, SVG_START);
    xml_text(&svg->xml, "%s", safe);
    xml_end(&svg->xml);
}
