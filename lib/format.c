/* printf-like formatting without a C library. */
#include "lib/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct output {
    char *text;
    size_t room;
    size_t length; /* of the whole text, including what does not fit */
};

struct conversion {
    bool left;
    char pad;
    size_t width;
    unsigned bytes; /* of an integer argument: 4 or 8 */
    char letter;
};

static void put(struct output *out, char c)
{
    if (out->length + 1 < out->room)
        out->text[out->length] = c;
    out->length++;
}

static void put_padded(struct output *out, const struct conversion *c, const char *sign,
                       const char *text, size_t count)
{
    size_t total = strlen(sign) + count;

    if (!c->left && c->pad == ' ')
        for (size_t i = total; i < c->width; i++)
            put(out, ' ');
    for (const char *p = sign; *p; p++)
        put(out, *p);
    if (!c->left && c->pad == '0')
        for (size_t i = total; i < c->width; i++)
            put(out, '0');
    for (size_t i = 0; i < count; i++)
        put(out, text[i]);
    if (c->left)
        for (size_t i = total; i < c->width; i++)
            put(out, ' ');
}

static void put_number(struct output *out, const struct conversion *c, const char *sign,
                       uint64_t value, unsigned base)
{
    const char *all = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = all[value % base];
        value /= base;
    } while (value);
    put_padded(out, c, sign, digits + at, sizeof digits - at);
}

/* Reads flags, width and length; returns the address of the conversion letter. */
static const char *parse(const char *p, struct conversion *c, va_list *arguments)
{
    int width;

    *c = (struct conversion){.pad = ' ', .bytes = 4};
    for (; *p == '-' || *p == '0'; p++) {
        if (*p == '-')
            c->left = true;
        else
            c->pad = '0';
    }
    if (*p == '*') {
        width = va_arg(*arguments, int);
        c->width = width > 0 ? (size_t)width : 0;
        p++;
    }
    for (; *p >= '0' && *p <= '9'; p++)
        c->width = c->width * 10 + (size_t)(*p - '0');
    for (; *p == 'l' || *p == 'z'; p++)
        c->bytes = 8;
    c->letter = *p;
    return p;
}

static void put_signed(struct output *out, const struct conversion *c, int64_t value)
{
    if (value < 0)
        put_number(out, c, "-", 0 - (uint64_t)value, 10);
    else
        put_number(out, c, "", (uint64_t)value, 10);
}

static void convert(struct output *out, const struct conversion *c, va_list *arguments)
{
    const char *text;
    char letter;

    switch (c->letter) {
    case 'd':
    case 'i':
        put_signed(out, c, c->bytes == 8 ? va_arg(*arguments, int64_t) : va_arg(*arguments, int));
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_number(out, c, "",
                   c->bytes == 8 ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned),
                   c->letter == 'u'   ? 10
                   : c->letter == 'o' ? 8
                                      : 16);
        break;
    case 'p':
        put_number(out, c, "0x", (uintptr_t)va_arg(*arguments, void *), 16);
        break;
    case 'c':
        letter = (char)va_arg(*arguments, int);
        put_padded(out, c, "", &letter, 1);
        break;
    case 's':
        text = va_arg(*arguments, const char *);
        text = text != NULL ? text : "(null)";
        put_padded(out, c, "", text, strlen(text));
        break;
    default:
        put(out, c->letter);
        break;
    }
}

int format_text_v(char *out, size_t room, const char *format, va_list arguments)
{
    struct output output = {.text = out, .room = room};
    struct conversion c;
    va_list copy;

    va_copy(copy, arguments);
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            put(&output, *p);
            continue;
        }
        p = parse(p + 1, &c, &copy);
        if (!*p)
            break;
        convert(&output, &c, &copy);
    }
    va_end(copy);
    if (room)
        out[output.length < room ? output.length : room - 1] = '\0';
    return (int)output.length;
}

int format_text(char *out, size_t room, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = format_text_v(out, room, format, arguments);
    va_end(arguments);
    return length;
}
