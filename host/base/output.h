/* Fast text output to a file descriptor, with a large buffer and plain number formatting.
 *
 * After a failed write, further output is discarded; output_flush returns the error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host/base/digits.h"

#define OUTPUT_BYTES (256u << 10)
#define OUTPUT_NUMBER_MAX DIGITS_ROOM /* room that suffices for a number */

struct output {
    int fd;
    int error; /* -errno of the first failed write */
    size_t used;
    /* What takes the bytes in place of the file, if it is set; 0 or -errno. */
    int (*sink)(void *context, const char *bytes, size_t count);
    void *context; /* of it */
    char buffer[OUTPUT_BYTES];
};

void output_init(struct output *out, int fd);

/* Writes the buffer.  Returns 0 or the first error so far. */
int output_flush(struct output *out);

void output_bytes(struct output *out, const char *bytes, size_t count);
void output_text(struct output *out, const char *text);
void output_decimal(struct output *out, uint64_t value);
void output_hex(struct output *out, uint64_t value); /* with 0x */

/* Returns whether a spreadsheet would take a CSV field for a formula, even in quotes. */
bool output_csv_is_formula(const char *text);

/* Writes one CSV field: in quotes if it holds a comma, a quote or a line end, and after an
 * apostrophe if a spreadsheet would take it for a formula. */
void output_csv(struct output *out, const char *text);

/* One CSV field of a raw text (NULL: empty), made valid as text_escape does; what is long is cut.
 */
void output_csv_text(struct output *out, const char *text);

/* One JSON string with its quotes, made valid likewise; NULL is null. */
void output_json(struct output *out, const char *text);

/* Writes nine digits, or "0" if the value is not finite. */
void output_real(struct output *out, double value);

/* Write a format's text with values in it.  A %s is written by output_csv_text or by output_json,
 * with its quotes if any; %d is a bool, true or false; %g is output_real; %#x and %#lx are
 * output_hex; %u and %lu are decimal.  No other conversions, flags or widths. */
void output_csv_print(struct output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_json_print(struct output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Rows in one of both forms: lines of CSV below the names, or an array of JSON objects.  One format
 * describes a row: names, each with a conversion as above, such as "pid:%u,name:%s". */
struct output_rows {
    struct output *out;
    bool json;
    bool any; /* row so far */
};

void output_rows_begin(struct output_rows *rows, const char *format);
void output_row(struct output_rows *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_rows_end(struct output_rows *rows);

/* Where so many bytes may be put, at most OUTPUT_BYTES; output_wrote says where they end. */
static inline char *output_room(struct output *out, size_t bytes)
{
    if (OUTPUT_BYTES - out->used < bytes)
        output_flush(out);
    return out->buffer + out->used;
}

static inline void output_wrote(struct output *out, const char *end)
{
    out->used = (size_t)(end - out->buffer);
}

static inline void output_char(struct output *out, char c)
{
    if (out->used == OUTPUT_BYTES)
        output_flush(out);
    out->buffer[out->used++] = c;
}
