/* Parses the four kinds of TOML strings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/suite/toml_parse.h"

struct text { /* a string that grows; its room is that of what is left of the file */
    char *bytes;
    size_t count;
};

static void put(struct text *t, char c)
{
    t->bytes[t->count++] = c;
}

/* An escape is never shorter than its character in UTF-8. */
static void put_code(struct text *t, uint32_t code)
{
    if (code < 0x80) {
        put(t, (char)code);
    } else if (code < 0x800) {
        put(t, (char)(0xc0 | code >> 6));
    } else if (code < 0x10000) {
        put(t, (char)(0xe0 | code >> 12));
        put(t, (char)(0x80 | (code >> 6 & 0x3f)));
    } else {
        put(t, (char)(0xf0 | code >> 18));
        put(t, (char)(0x80 | (code >> 12 & 0x3f)));
        put(t, (char)(0x80 | (code >> 6 & 0x3f)));
    }
    if (code >= 0x80)
        put(t, (char)(0x80 | (code & 0x3f)));
}

static int take_code(struct toml_parser *p, struct text *t, size_t digits)
{
    char text[9] = "", *end;
    unsigned long code;

    memcpy(text, p->at, (size_t)(p->end - p->at) < digits ? (size_t)(p->end - p->at) : digits);
    code = strspn(text, "0123456789abcdefABCDEF") == digits ? strtoul(text, &end, 16) : 0;
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return toml_wrong(p, "\\%c needs %zu hexadecimal digits of a character",
                          digits == 4 ? 'u' : 'U', digits);
    p->at += digits;
    put_code(t, (uint32_t)code);
    return 0;
}

/* A backslash at the end of a line: what follows, up to the next text, is left out. */
static bool joins_lines(struct toml_parser *p)
{
    const char *at = p->at;

    while (at < p->end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    if (at == p->end || *at != '\n')
        return false;
    while (at < p->end && strchr(" \t\r\n", *at) != NULL)
        p->line += *at++ == '\n';
    p->at = at;
    return true;
}

static int take_escape(struct toml_parser *p, struct text *t, bool multi)
{
    static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    const char *found;
    char c;

    if (multi && joins_lines(p))
        return 0;
    c = p->at < p->end ? *p->at++ : 0;
    if (c == 'u' || c == 'U')
        return take_code(p, t, c == 'u' ? 4 : 8);
    found = c != 0 ? strchr(names, c) : NULL;
    if (found == NULL)
        return toml_wrong(p, "no such escape in a string; for a backslash write \\\\, or quote the "
                             "string by '");
    put(t, values[found - names]);
    return 0;
}

/* One character of a string.  1: it ended. */
static int take_character(struct toml_parser *p, struct text *t, char quote, bool multi)
{
    const char triple[] = {quote, quote, quote};
    unsigned char c;

    if (p->at == p->end || (!multi && *p->at == '\n'))
        return toml_wrong(p, "a string does not end; close it by %s%c", multi ? "three of " : "",
                          quote);
    if (multi ? toml_sees(p, triple, 3) : *p->at == quote) {
        p->at += multi ? 3 : 1;
        for (int i = 0; multi && i < 2 && toml_take(p, quote); i++) /* """a""""" ends in two " */
            put(t, quote);
        return 1;
    }
    c = (unsigned char)*p->at++;
    if (c == '\\' && quote == '"')
        return take_escape(p, t, multi);
    if (c == '\r' && p->at < p->end && *p->at == '\n' && multi)
        return 0;
    if ((c < ' ' && c != '\t' && !(c == '\n' && multi)) || c == 0x7f)
        return toml_wrong(p, "a control character in a string; write it as an escape");
    p->line += c == '\n';
    put(t, (char)c);
    return 0;
}

char *toml_string(struct toml_parser *p)
{
    char quote = *p->at;
    const char triple[] = {quote, quote, quote};
    bool multi = toml_sees(p, triple, 3);
    struct text text = {.bytes = malloc((size_t)(p->end - p->at) + 1)};
    int taken = 0;
    char *copy;

    if (text.bytes == NULL) {
        toml_wrong(p, "%s", strerror(ENOMEM));
        return NULL;
    }
    p->at += multi ? 3 : 1;
    if (multi && (toml_sees(p, "\n", 1) || toml_sees(p, "\r\n", 2))) {
        p->at += *p->at == '\r' ? 2 : 1;
        p->line++;
    }
    while (taken == 0)
        taken = take_character(p, &text, quote, multi);
    text.bytes[text.count] = 0;
    copy = taken > 0 ? strdup(text.bytes) : NULL;
    if (taken > 0 && copy == NULL)
        toml_wrong(p, "%s", strerror(ENOMEM));
    free(text.bytes);
    return copy;
}
