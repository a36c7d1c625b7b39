/* Parses result.conf. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/usb/usb_result.h"

#define LINE_BYTES 512
#define FAT_FILE_BYTES_MAX UINT32_MAX

static const char *const stream_names[USB_STREAMS] = {"stdout", "stderr", "files.bin", "hr.bin",
                                                      "log.txt"};

struct parse {
    struct usb_result *result;
    char *error;
    unsigned int line;
    bool has_version;
    bool has_end;
};

static int fail(struct parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct parse *p, const char *format, ...)
{
    int used = snprintf(p->error, USB_RESULT_ERROR_BYTES, "line %u: ", p->line);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(p->error + used, USB_RESULT_ERROR_BYTES - (size_t)used, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

char *usb_result_name(char *name, enum usb_stream stream, uint32_t part)
{
    if (part == 0)
        snprintf(name, USB_RESULT_NAME_BYTES, "%s", stream_names[stream]);
    else
        snprintf(name, USB_RESULT_NAME_BYTES, "%s.%u", stream_names[stream], part);
    return name;
}

/* A decimal number up to `limit` and nothing else. */
static int parse_number(const char *text, uint64_t limit, uint64_t *value)
{
    *value = 0;
    if (*text == 0)
        return -EINVAL;
    for (; *text != 0; text++) {
        unsigned int digit = (unsigned int)(*text - '0');

        if (digit > 9 || *value > (limit - digit) / 10)
            return -EINVAL;
        *value = *value * 10 + digit;
    }
    return 0;
}

int usb_result_parse_name(const char *name, enum usb_stream *stream, uint32_t *part)
{
    for (int s = 0; s < USB_STREAMS; s++) {
        size_t bytes = strlen(stream_names[s]);
        uint64_t number = 0;

        if (strncmp(name, stream_names[s], bytes) != 0)
            continue;
        /* Each part has one name: without leading zeros. */
        if (name[bytes] != 0 && (name[bytes] != '.' || name[bytes + 1] == '0' ||
                                 parse_number(name + bytes + 1, USB_RESULT_FILES_MAX, &number)))
            continue;
        *stream = (enum usb_stream)s;
        *part = (uint32_t)number;
        return 0;
    }
    return -EINVAL;
}

static int take_number(struct parse *p, const char *text, uint64_t *value)
{
    return parse_number(text, UINT64_MAX, value) == 0 ? 0 : fail(p, "not a number: %.40s", text);
}

/* Takes "12.345678". */
static int take_seconds(struct parse *p, const char *text)
{
    char whole[32];
    size_t bytes = strcspn(text, ".");
    uint64_t seconds, part = 0;
    uint64_t unit = 1000000000;

    snprintf(whole, sizeof whole, "%.*s", (int)(bytes < sizeof whole ? bytes : sizeof whole), text);
    if (parse_number(whole, UINT64_MAX / unit - 1, &seconds) != 0)
        return fail(p, "not a time: %.40s", text);
    for (text += bytes + (text[bytes] == '.'); *text >= '0' && *text <= '9' && unit > 1; text++) {
        unit /= 10;
        part += unit * (uint64_t)(*text - '0');
    }
    if (*text != 0)
        return fail(p, "not a time");
    p->result->elapsed_ns = seconds * 1000000000 + part;
    return 0;
}

/* Takes "NAME BYTES CRC32C". */
static int take_file(struct parse *p, const char *text)
{
    struct usb_result *r = p->result;
    struct usb_result_file *file = &r->files[r->file_count];
    char name[USB_RESULT_NAME_BYTES] = "", bytes[24] = "", crc[9] = "";
    uint32_t next = 0;
    char *end;

    if (r->file_count == USB_RESULT_FILES_MAX)
        return fail(p, "more than %d files", USB_RESULT_FILES_MAX);
    if (sscanf(text, "%31s %23s %8s", name, bytes, crc) != 3 || strlen(crc) != 8 ||
        strlen(name) + strlen(bytes) + 10 != strlen(text) ||
        parse_number(bytes, FAT_FILE_BYTES_MAX, &file->bytes) != 0)
        return fail(p, "not a file: %.60s", text);
    file->crc32c = (uint32_t)strtoul(crc, &end, 16);
    if (*end != 0 || crc[strspn(crc, "0123456789abcdefABCDEF")] != 0)
        return fail(p, "not a checksum: %s", crc);
    if (usb_result_parse_name(name, &file->stream, &file->part) != 0)
        return fail(p, "a result has no file of the name %s", name);
    for (size_t i = 0; i < r->file_count; i++)
        if (r->files[i].stream == file->stream)
            next = r->files[i].part + 1;
    if (file->part != next)
        return fail(p, "%s is out of order", name);
    r->file_count++;
    return 0;
}

/* Takes "NAME BYTES". */
static int take_cut(struct parse *p, const char *text)
{
    const char *number = strchr(text, ' ');
    uint64_t bytes;

    if (number == NULL || parse_number(number + 1, UINT64_MAX, &bytes) != 0)
        return fail(p, "not a file and a number: %.60s", text);
    p->result->cut_bytes =
        bytes > UINT64_MAX - p->result->cut_bytes ? UINT64_MAX : p->result->cut_bytes + bytes;
    return 0;
}

static int take_text(struct parse *p, const char *key, const char *value)
{
    struct usb_result *r = p->result;
    const struct {
        const char *key;
        char *text;
    } texts[] = {{"run", r->run},
                 {"machine", r->machine},
                 {"end", r->end},
                 {"exit-kind", r->exit_kind},
                 {"reason", r->reason}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(key, texts[i].key) == 0) {
            if (texts[i].text[0] != 0)
                return fail(p, "%s is given twice", key);
            snprintf(texts[i].text, USB_RESULT_TEXT_BYTES, "%.*s", USB_RESULT_TEXT_BYTES - 1,
                     value);
        }
    p->has_end = p->has_end || strcmp(key, "end") == 0;
    return 0;
}

static int take_key(struct parse *p, const char *key, const char *value)
{
    struct usb_result *r = p->result;

    if (strcmp(key, "version") == 0) {
        if (strcmp(value, "1") != 0)
            return fail(p, "version %.20s; this hr reads version 1", value);
        p->has_version = true;
        return 0;
    }
    if (!p->has_version)
        return fail(p, "the first line is not version = 1");
    if (strcmp(key, "file") == 0)
        return take_file(p, value);
    if (strcmp(key, "cut") == 0)
        return take_cut(p, value);
    if (strcmp(key, "seconds") == 0)
        return take_seconds(p, value);
    if (strcmp(key, "exit-code") == 0)
        return take_number(p, value, &r->exit_code);
    if (strcmp(key, "repetition") == 0)
        return take_number(p, value, &r->repetition);
    if (strcmp(key, "samples") == 0)
        return take_number(p, value, &r->samples);
    if (strcmp(key, "lost-samples") == 0)
        return take_number(p, value, &r->lost_samples);
    return take_text(p, key, value);
}

static int take_line(struct parse *p, char *line)
{
    char *equals = strstr(line, " = ");

    line[strcspn(line, "\r")] = 0;
    if (line[0] == '#' || line[0] == 0)
        return 0;
    if (equals == NULL)
        return fail(p, "not KEY = VALUE");
    *equals = 0;
    return take_key(p, line, equals + 3);
}

int usb_result_parse(const char *text, size_t bytes, struct usb_result *r,
                     char error[USB_RESULT_ERROR_BYTES])
{
    struct parse p = {.result = r, .error = error};
    int result = 0;

    memset(r, 0, sizeof *r);
    error[0] = 0;
    for (size_t at = 0; at < bytes && result == 0;) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : bytes - at;
        char line[LINE_BYTES];

        p.line++;
        if (length >= sizeof line || memchr(text + at, 0, length) != NULL)
            return fail(&p, "too long, or not text");
        memcpy(line, text + at, length);
        line[length] = 0;
        result = take_line(&p, line);
        at += length + 1;
    }
    r->complete = result == 0 && p.has_version && p.has_end;
    return result;
}
