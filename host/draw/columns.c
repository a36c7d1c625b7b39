/* Lays out tables for terminals of any width. */
#include "host/draw/columns.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/pager.h"
#include "host/base/terminal.h"
#include "host/draw/function_name.h"

#define GAP 2u /* between columns */
#define TEXT_LEAST 8u /* a narrower text is not useful */
#define NARROWEST 20u

unsigned int columns_add(struct columns *c, const char *title, unsigned int width, bool number,
                         unsigned int rank)
{
    struct column *column = &c->all[c->count];

    snprintf(column->title, sizeof column->title, "%s", title);
    column->width = width;
    column->number = number;
    column->rank = rank;
    column->shown = true;
    return c->count++;
}

static unsigned int taken(const struct columns *c)
{
    unsigned int sum = 0;

    for (unsigned int i = 0; i < c->count; i++)
        if (c->all[i].shown)
            sum += c->all[i].width + (sum != 0 ? GAP : 0);
    return sum;
}

/* Gives the texts a common width, but none more than it needs. */
static void narrow_texts(struct columns *c, unsigned int terminal)
{
    while (taken(c) > terminal) {
        struct column *widest = NULL;

        for (unsigned int i = 0; i < c->count; i++)
            if (c->all[i].shown && !c->all[i].number &&
                (widest == NULL || c->all[i].width >= widest->width))
                widest = &c->all[i];
        if (widest == NULL || widest->width <= TEXT_LEAST)
            return;
        widest->width--;
    }
}

static unsigned int least(const struct columns *c)
{
    struct columns narrow = *c;

    for (unsigned int i = 0; i < c->count; i++)
        if (!narrow.all[i].number && narrow.all[i].width > TEXT_LEAST * 2)
            narrow.all[i].width = TEXT_LEAST * 2;
    return taken(&narrow);
}

void columns_fit(struct columns *c, unsigned int terminal)
{
    if (terminal == PAGER_NO_TERMINAL)
        return;
    c->fitted = true;
    while (least(c) > terminal) {
        struct column *spare = NULL;

        for (unsigned int i = 0; i < c->count; i++)
            if (c->all[i].shown && c->all[i].rank != 0 &&
                (spare == NULL || c->all[i].rank > spare->rank))
                spare = &c->all[i];
        if (spare == NULL)
            break;
        spare->shown = false;
    }
    narrow_texts(c, terminal);
    for (unsigned int i = c->count; i-- > 0;)
        if (c->all[i].shown && !c->all[i].number) { /* the last text gets the remaining width */
            unsigned int sum = taken(c);

            c->all[i].width += terminal > sum ? terminal - sum : 0;
            break;
        }
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

unsigned int columns_width(const char *text)
{
    unsigned int width = 0;

    for (; *text != 0; text++)
        width += begins_character(*text);
    return width;
}

void columns_cut(char *text, unsigned int width)
{
    unsigned int at = 0;

    if (columns_width(text) <= width)
        return;
    for (; *text != 0; text++)
        if (begins_character(*text) && at++ + 3 >= width)
            break;
    strcpy(text, width >= 3 ? "..." : ""); /* the text before was longer */
}

void columns_cut_function(char *name, unsigned int width)
{
    if (columns_width(name) > width)
        function_hide_parameters(name);
    if (columns_width(name) > width)
        function_hide_templates(name);
    columns_cut(name, width);
}

static void print_cell(FILE *out, const struct column *column, const char *cell, bool cut,
                       bool last, const char *colour)
{
    char text[COLUMNS_CELL_BYTES + 4];
    unsigned int width, pad;

    snprintf(text, sizeof text, "%s", cell);
    if (cut && column->function)
        columns_cut_function(text, column->width);
    else if (cut && !column->number)
        columns_cut(text, column->width);
    width = columns_width(text);
    pad = column->width > width ? column->width - width : 0;
    if (column->number)
        fprintf(out, "%*s", (int)pad, "");
    fprintf(out, "%s%s%s", colour != NULL ? colour : "", text, colour != NULL ? COLOUR_OFF : "");
    if (!column->number && !last)
        fprintf(out, "%*s", (int)pad, "");
}

static unsigned int last_shown(const struct columns *c)
{
    unsigned int last = 0;

    for (unsigned int i = 0; i < c->count; i++)
        if (c->all[i].shown)
            last = i;
    return last;
}

void columns_print_titles(FILE *out, const struct columns *c)
{
    unsigned int last = last_shown(c);

    for (unsigned int i = 0; i < c->count; i++) {
        struct column column = c->all[i];

        if (!column.shown)
            continue;
        if (i == 0) { /* the comment's sign takes its place in the first column */
            fputs("# ", out);
            column.width -= 2;
        } else {
            fputs("  ", out);
        }
        print_cell(out, &column, column.title, c->fitted, i == last, NULL);
    }
    fputc('\n', out);
}

void columns_print(FILE *out, const struct columns *c)
{
    unsigned int last = last_shown(c);

    if (c->dim)
        fputs(COLOUR_DIM, out);
    for (unsigned int i = 0; i < c->count; i++) {
        if (!c->all[i].shown)
            continue;
        if (i != 0)
            fputs("  ", out);
        print_cell(out, &c->all[i], c->cells[i],
                   c->fitted && !(c->full_names && c->all[i].function), i == last,
                   i == 0 && !c->dim ? c->colour : NULL);
    }
    fputs(c->dim ? COLOUR_OFF "\n" : "\n", out);
}

void columns_note(FILE *out, unsigned int terminal, const char *format, ...)
{
    char *text, *word, *rest = NULL;
    unsigned int at = 1;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    fputc('#', out);
    for (word = text != NULL ? strtok_r(text, " ", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        unsigned int width = columns_width(word);

        if (terminal != PAGER_NO_TERMINAL && at > 1 && terminal >= NARROWEST &&
            at + 1 + width > terminal) {
            fputs("\n# ", out);
            at = 2;
        } else {
            fputc(' ', out);
            at++;
        }
        fputs(word, out);
        at += width;
    }
    fputc('\n', out);
    free(text);
}
