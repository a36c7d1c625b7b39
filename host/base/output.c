/* Buffers text and formats numbers. */
#include "host/base/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "host/base/digits.h"
#include "host/base/text.h"
#include "host/base/transfer.h"

#define NAME_BYTES 16384
#define DIRECT_BYTES (16u << 10) /* so much is written from where it is */

void output_init(struct output *out, int fd)
{
    out->fd = fd;
    out->error = 0;
    out->used = 0;
    out->sink = NULL;
}

int output_flush(struct output *out)
{
    if (out->error == 0)
        out->error = out->sink != NULL ? out->sink(out->context, out->buffer, out->used)
                                       : transfer_write(out->fd, out->buffer, out->used, NULL);
    out->used = 0;
    return out->error;
}

void output_bytes(struct output *out, const char *bytes, size_t count)
{
    if (count >= DIRECT_BYTES && out->sink == NULL && out->fd >= 0) {
        if (output_flush(out) == 0)
            out->error = transfer_write(out->fd, bytes, count, NULL);
        return;
    }
    while (count != 0) {
        size_t room = OUTPUT_BYTES - out->used;
        size_t part = count < room ? count : room;

        memcpy(out->buffer + out->used, bytes, part);
        out->used += part;
        bytes += part;
        count -= part;
        if (out->used == OUTPUT_BYTES)
            output_flush(out);
    }
}

void output_text(struct output *out, const char *text)
{
    output_bytes(out, text, strlen(text));
}

void output_decimal(struct output *out, uint64_t value)
{
    output_wrote(out, digits_decimal(output_room(out, OUTPUT_NUMBER_MAX), value));
}

void output_hex(struct output *out, uint64_t value)
{
    output_wrote(out, digits_hex(output_room(out, OUTPUT_NUMBER_MAX), value));
}

/* A spreadsheet computes a field that begins so; after an apostrophe it is a text. */
bool output_csv_is_formula(const char *text)
{
    return *text != 0 && strchr("=+-@\t\r\n", *text) != NULL;
}

void output_csv(struct output *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL && !output_csv_is_formula(text)) {
        output_text(out, text);
        return;
    }
    output_char(out, '"');
    if (output_csv_is_formula(text))
        output_char(out, '\'');
    for (; *text != 0; text++) {
        if (*text == '"')
            output_char(out, '"');
        output_char(out, *text);
    }
    output_char(out, '"');
}

void output_csv_text(struct output *out, const char *text)
{
    char safe[NAME_BYTES];

    if (text != NULL)
        output_csv(out, text_escape(safe, sizeof safe, text));
}

void output_json(struct output *out, const char *text)
{
    char safe[NAME_BYTES];

    if (text == NULL) {
        output_text(out, "null");
        return;
    }
    output_char(out, '"');
    for (const char *s = text_escape(safe, sizeof safe, text); *s != 0; s++) {
        if (*s == '"' || *s == '\\')
            output_char(out, '\\');
        output_char(out, *s);
    }
    output_char(out, '"');
}

void output_real(struct output *out, double value)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%.9g", isfinite(value) ? value : 0.0);
    output_text(out, digits);
}

/* Writes the value of the conversion that begins after the '%'; returns what follows it. */
static const char *put_value(struct output *out, const char *format, va_list *values,
                             void (*put_text)(struct output *out, const char *text))
{
    bool hex = *format == '#';
    bool wide = format[hex] == 'l';
    const char *conversion = format + hex + wide;

    if (*conversion == 's')
        put_text(out, va_arg(*values, const char *));
    else if (*conversion == 'd')
        output_text(out, va_arg(*values, int) != 0 ? "true" : "false");
    else if (*conversion == 'g')
        output_real(out, va_arg(*values, double));
    else
        (hex ? output_hex : output_decimal)(out, wide ? va_arg(*values, uint64_t)
                                                      : va_arg(*values, unsigned int));
    return conversion + 1;
}

static void print(struct output *out, const char *format, va_list *values,
                  void (*put_text)(struct output *out, const char *text))
{
    while (*format != 0) {
        size_t plain = strcspn(format, "%");

        output_bytes(out, format, plain);
        format += plain;
        if (*format == '%')
            format = put_value(out, format + 1, values, put_text);
    }
}

void output_csv_print(struct output *out, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print(out, format, &values, output_csv_text);
    va_end(values);
}

void output_json_print(struct output *out, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print(out, format, &values, output_json);
    va_end(values);
}

void output_rows_begin(struct output_rows *rows, const char *format)
{
    if (rows->json) {
        output_char(rows->out, '[');
        return;
    }
    for (const char *at = format; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        output_text(rows->out, at != format ? "," : "");
        output_bytes(rows->out, at, strcspn(at, ":"));
    }
    output_char(rows->out, '\n');
}

void output_row(struct output_rows *rows, const char *format, ...)
{
    struct output *out = rows->out;
    const char *at = format;
    va_list values;

    if (rows->json)
        output_text(out, rows->any ? ",\n{" : "\n{");
    rows->any = true;
    va_start(values, format);
    while (*at != 0) {
        size_t name_bytes = strcspn(at, ":");

        if (rows->json) {
            output_char(out, '"');
            output_bytes(out, at, name_bytes);
            output_text(out, "\":");
        }
        at = put_value(out, at + name_bytes + 2, &values,
                       rows->json ? output_json : output_csv_text);
        if (*at == ',')
            output_char(out, *at++);
    }
    va_end(values);
    output_text(out, rows->json ? "}" : "\n");
}

void output_rows_end(struct output_rows *rows)
{
    if (rows->json)
        output_char(rows->out, ']');
}
