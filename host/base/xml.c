/* A small XML writer (XML 1.0, "Character Data and Markup", "Characters"). */
#include <stdarg.h>
#include <stdlib.h>

#include "host/base/xml.h"

void xml_init(struct xml *x, FILE *out)
{
    *x = (struct xml){.out = out};
}

static void put_escaped(struct xml *x, const char *text)
{
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;

        switch (c) {
        case '&':
            fputs("&amp;", x->out);
            break;
        case '<':
            fputs("&lt;", x->out);
            break;
        case '>':
            fputs("&gt;", x->out);
            break;
        case '\'':
            fputs("&apos;", x->out);
            break;
        case '"':
            fputs("&quot;", x->out);
            break;
        case '\t':
        case '\n':
        case '\r': /* a reader turns plain ones into spaces */
            fprintf(x->out, "&#%u;", c);
            break;
        default:
            if (c < ' ')
                x->bad = true;
            else
                putc(c, x->out);
            break;
        }
    }
}

static void put_formatted(struct xml *x, const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0) {
        x->bad = true;
        return;
    }
    put_escaped(x, text);
    free(text);
}

static void indent(struct xml *x)
{
    for (int i = 0; i < x->depth; i++)
        fputs("  ", x->out);
}

static void finish_tag(struct xml *x, const char *after)
{
    if (x->in_tag)
        fprintf(x->out, ">%s", after);
    x->in_tag = false;
}

void xml_start(struct xml *x, const char *name)
{
    if (x->depth == XML_DEPTH_MAX)
        abort(); /* the program's documents are flat */
    finish_tag(x, "\n");
    indent(x);
    fprintf(x->out, "<%s", name);
    x->names[x->depth++] = name;
    x->in_tag = true;
    x->has_text = false;
}

void xml_attribute(struct xml *x, const char *name, const char *format, ...)
{
    va_list arguments;

    fprintf(x->out, " %s='", name);
    va_start(arguments, format);
    put_formatted(x, format, arguments);
    va_end(arguments);
    putc('\'', x->out);
}

void xml_text(struct xml *x, const char *format, ...)
{
    va_list arguments;

    finish_tag(x, "");
    va_start(arguments, format);
    put_formatted(x, format, arguments);
    va_end(arguments);
    x->has_text = true;
}

void xml_end(struct xml *x)
{
    const char *name = x->names[--x->depth];

    if (x->in_tag) {
        fputs("/>\n", x->out);
    } else {
        if (!x->has_text)
            indent(x);
        fprintf(x->out, "</%s>\n", name);
    }
    x->in_tag = false;
    x->has_text = false;
}

void xml_element(struct xml *x, const char *name, const char *text)
{
    xml_start(x, name);
    xml_text(x, "%s", text);
    xml_end(x);
}
