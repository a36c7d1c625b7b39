/* Tests of host/draw/svg.c: escaping, cutting, lines that break. */
#include "host/draw/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static char *text;
static size_t bytes;

static void begin(struct svg *svg)
{
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    svg_begin(svg, out, 100, "a <title> & more");
}

static void end(struct svg *svg)
{
    svg_end(svg);
    assert_int_equal(fclose(svg->xml.out), 0);
}

static void names_are_escaped(void **state)
{
    struct svg svg;

    (void)state;
    begin(&svg);
    svg_text(&svg, 1, 2, SVG_START, "</text><script>\x1b\xff");
    end(&svg);
    assert_non_null(strstr(text, "<title>a &lt;title&gt; &amp; more</title>"));
    assert_non_null(strstr(text, ">&lt;/text&gt;&lt;script&gt;\\x1b\\xff</text>"));
    assert_null(strstr(text, "<script>"));
    free(text);
}

static void long_texts_are_cut_between_characters(void **state)
{
    struct svg svg;

    (void)state;
    begin(&svg);
    svg_text_within(&svg, 0, 0, 40, "ääääääääääää");
    svg_text_within(&svg, 0, 0, 12, "nothing");
    svg_text_within(&svg, 0, 0, 400, "whole");
    end(&svg);
    assert_non_null(strstr(text, ">ääää..</text>"));
    assert_null(strstr(text, "noth"));
    assert_non_null(strstr(text, ">whole</text>"));
    free(text);
}

static void lines_break_where_nothing_is_known(void **state)
{
    const struct svg_point points[] = {{1, 2}, {3, 4}, {5, NAN}, {7, 8}, {9, 10}};
    struct svg svg;

    (void)state;
    begin(&svg);
    svg_path(&svg, points, 5, "#000000", 1);
    svg_path(&svg, points + 2, 1, "#ffffff", 1);
    end(&svg);
    assert_non_null(strstr(text, "d='M1.00 2.00L3.00 4.00M7.00 8.00L9.00 10.00'"));
    assert_null(strstr(text, "stroke='#ffffff'"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(lines_break_where_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
