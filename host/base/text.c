/* Escapes untrusted strings and prints quantities with their units. */
#include "host/base/text.h"

#include <stdio.h>
#include <string.h>

/* Returns the length of the valid UTF-8 character at s; 0 for control characters and others. */
static size_t printable_length(const unsigned char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xc2 ? 0
                    : s[0] < 0xe0 ? 2
                    : s[0] < 0xf0 ? 3
                    : s[0] < 0xf5 ? 4
                                  : 0;
    uint32_t code;

    if (length <= 1)
        return s[0] >= 0x20 && s[0] != 0x7f ? length : 0;
    code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) /* stops at the final NUL, too */
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if (code < least[length] || code < 0xa0 || code > 0x10ffff)
        return 0;
    /* surrogates; line and paragraph separators; direction overrides, which reorder a line */
    if ((code >= 0xd800 && code < 0xe000) || (code >= 0x2028 && code <= 0x202e) ||
        (code >= 0x2066 && code <= 0x2069))
        return 0;
    return length;
}

char *text_escape(char *out, size_t room, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0;

    while (*s != 0) {
        size_t length = printable_length(s);
        size_t needed = length != 0 ? length : 4;

        if (used + needed + 4 > room) { /* room for "..." and the NUL */
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (length != 0)
            memcpy(out + used, s, length);
        else
            snprintf(out + used, 5, "\\x%02x", s[0]);
        used += needed;
        s += length != 0 ? length : 1;
    }
    out[used] = 0;
    return out;
}

char *text_code(char *out, size_t room, const char *text, bool cell)
{
    const char *from = text_escape(out + room / 2, room - room / 2 - 2, text);
    char *to = out;

    *to++ = '`';
    for (; *from != 0; from++) {
        if (*from == '|' && cell)
            *to++ = '\\';
        *to++ = *from == '`' ? '\'' : *from;
    }
    strcpy(to, "`");
    return out;
}

char *text_time(char *out, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double value = ns / units[i].ns;

        if (value >= 1) {
            snprintf(out, TEXT_QUANTITY_BYTES, "%.*f %s",
                     value < 10    ? 3
                     : value < 100 ? 2
                                   : 1,
                     value, units[i].unit);
            return out;
        }
    }
    snprintf(out, TEXT_QUANTITY_BYTES, "%.*f ns", ns < 10 && ns != (double)(int)ns ? 2 : 0, ns);
    return out;
}

char *text_bytes(char *out, uint64_t bytes)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;

    if (bytes < 1000) {
        snprintf(out, TEXT_QUANTITY_BYTES, "%u bytes", (unsigned)bytes);
        return out;
    }
    for (value /= 1000; value >= 999.995 && unit < 5; unit++)
        value /= 1000;
    snprintf(out, TEXT_QUANTITY_BYTES, "%.2f %s", value, units[unit]);
    return out;
}

char *text_count(char *out, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lu", count);
    char *end = out;

    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            *end++ = ',';
        *end++ = digits[i];
    }
    *end = 0;
    return out;
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}
