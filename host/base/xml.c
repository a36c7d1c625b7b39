/* A small XML writer (XML 1.0, "Character Data and Markup", "Characters"). */
#include "host/base/xml.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* Writes the value of the conversion at `format`, such as "%.2f"; returns what follows it. */
static const char *put_value(struct xml *x, const char *format, va_list *values)
{
    char spec[8];
    size_t bytes = strcspn(format, "sdufg") + 1;

    snprintf(spec, sizeof spec, "%.*s", (int)bytes, format);
    if (spec[bytes - 1] == 's') {
        put_escaped(x, va_arg(*values, const char *));
    } else if (spec[bytes - 1] == 'f' || spec[bytes - 1] == 'g') {
        double real = va_arg(*values, double);
        fprintf(x->out, spec, real);
    } else if (spec[1] == 'l') {
        unsigned long long wide = va_arg(*values, unsigned long long);
        fprintf(x->out, spec, wide);
    } else {
        int number = va_arg(*values, int);
        fprintf(x->out, spec, number);
    }
    return format + bytes;
}

static void start(struct xml *x, const char *format, va_list *values)
{
    if (x->depth == XML_DEPTH_MAX)
        abort(); /* the program's documents are flat */
    finish_tag(x, "\n");
    indent(x);
    putc('<', x->out);
    x->names[x->depth++] = format;
    while (*format != 0)
        if (*format == '%')
            format = put_value(x, format, values);
        else
            putc(*format++, x->out);
    x->in_tag = true;
    x->has_text = false;
}

void xml_start(struct xml *x, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    start(x, format, &values);
    va_end(values);
}

void xml_empty(struct xml *x, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    start(x, format, &values);
    va_end(values);
    xml_end(x);
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
        fprintf(x->out, "</%.*s>\n", (int)strcspn(name, " "), name);
    }
    x->in_tag = false;
    x->has_text = false;
}

void xml_element(struct xml *x, const char *name, const char *text)
{
    xml_start(x, "%s", name);
    x->names[x->depth - 1] = name;
    xml_text(x, "%s", text);
    xml_end(x);
}
