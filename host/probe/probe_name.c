/* Compares names of symbols: versions, C++ and Rust. */
#include "host/probe/probe_name.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/symbols_demangle.h"

#define NAME_BYTES 4096u

int probe_name_bytes(const struct probe_symbol *symbol)
{
    return (int)(symbol->name[0] == 0 ? 0 : 1 + strcspn(symbol->name + 1, "@"));
}

bool probe_name_is_old(const struct probe_symbol *symbol)
{
    const char *version = symbol->name + probe_name_bytes(symbol);

    return version[0] == '@' && version[1] != '@';
}

static bool fits(const char *name, size_t bytes, const struct probe_spec *spec)
{
    char text[NAME_BYTES];

    if (spec->kind != PROBE_SPEC_GLOB)
        return strncmp(name, spec->name, bytes) == 0 && spec->name[bytes] == 0;
    if (bytes >= sizeof text)
        return false;
    memcpy(text, name, bytes);
    text[bytes] = 0;
    return fnmatch(spec->name, text, 0) == 0;
}

/* Returns the bracket that the last one of text[0..bytes) closes. */
static size_t opening(const char *text, size_t bytes, char open, char close)
{
    size_t depth = 0;

    while (bytes-- > 0) {
        depth += text[bytes] == close;
        if (text[bytes] == open && --depth == 0)
            return bytes;
    }
    return 0;
}

static bool ends_in_operator(const char *text, size_t bytes)
{
    return bytes >= 8 && memcmp(text + bytes - 8, "operator", 8) == 0;
}

/* Returns the start of the name after the type of the result, which functions of templates show. */
static size_t after_type(const char *text, size_t bytes)
{
    size_t depth = 0, start = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (ends_in_operator(text, i))
            break;
        depth += text[i] == '<' || text[i] == '(';
        depth -= depth != 0 && (text[i] == '>' || text[i] == ')');
        if (text[i] == ' ' && depth == 0)
            start = i + 1;
    }
    return start;
}

/* work(int) const: work(int) const, work; T f<int>(int): also f<int> and f. */
static bool plain_fits(const char *plain, const struct probe_spec *spec)
{
    size_t bytes = strlen(plain), start;
    const char *last = memrchr(plain, ')', bytes);

    if (fits(plain, bytes, spec))
        return true;
    if (last != NULL && opening(plain, (size_t)(last - plain) + 1, '(', ')') != 0)
        bytes = opening(plain, (size_t)(last - plain) + 1, '(', ')');
    start = after_type(plain, bytes);
    if (fits(plain + start, bytes - start, spec))
        return true;
    if (bytes == start || plain[bytes - 1] != '>')
        return false;
    bytes = opening(plain, bytes, '<', '>');
    return bytes > start && !ends_in_operator(plain, bytes) &&
           fits(plain + start, bytes - start, spec);
}

bool probe_name_fits(struct probe_symbol *symbol, const struct probe_spec *spec)
{
    size_t bytes = (size_t)probe_name_bytes(symbol);
    char *raw;

    if (fits(symbol->name, bytes, spec) || fits(symbol->name, strlen(symbol->name), spec))
        return true;
    if (symbol->name[0] != '_' || (symbol->name[1] != 'Z' && symbol->name[1] != 'R'))
        return false;
    if (!symbol->asked && (raw = strndup(symbol->name, bytes)) != NULL) {
        symbol->asked = true;
        symbol->plain = symbols_demangle(raw);
        free(raw);
    }
    return symbol->plain != NULL && plain_fits(symbol->plain, spec);
}
