/* Parses --probe. */
#include "host/probe/probe_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first ':' that is not part of '::'; NULL: none. */
static const char *find_colon(const char *text)
{
    for (const char *at = text; (at = strchr(at, ':')) != NULL; at += 2)
        if (at[1] != ':')
            return at;
    return NULL;
}

static bool read_number(const char *text, int base, uint64_t *number)
{
    char *end;

    if (!isxdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *number = strtoull(text, &end, base);
    return *end == 0 && errno == 0;
}

static bool is_hexadecimal(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* FUNC+0xOFF: names of operators hold a plus, too. */
static bool read_offset(struct probe_spec *spec)
{
    char *plus = strrchr(spec->name, '+');

    if (plus == NULL || plus == spec->name ||
        !read_number(plus + 1, is_hexadecimal(plus + 1) ? 16 : 10, &spec->number))
        return false;
    *plus = 0;
    return true;
}

static bool read_line(struct probe_spec *spec)
{
    char *colon = strrchr(spec->name, ':');

    if (colon == NULL || colon == spec->name || colon[-1] == ':' ||
        !read_number(colon + 1, 10, &spec->number))
        return false;
    *colon = 0;
    return true;
}

static void read_kind(struct probe_spec *spec)
{
    if (strcmp(spec->name, "@all") == 0)
        spec->kind = PROBE_SPEC_ALL;
    else if (is_hexadecimal(spec->name) && read_number(spec->name, 16, &spec->number))
        spec->kind = PROBE_SPEC_ADDRESS;
    else if (read_line(spec))
        spec->kind = PROBE_SPEC_LINE;
    else if (read_offset(spec))
        spec->kind = PROBE_SPEC_OFFSET;
    else if (strpbrk(spec->name, "*?") != NULL && strstr(spec->name, "operator") == NULL)
        spec->kind = PROBE_SPEC_GLOB;
    else
        spec->kind = PROBE_SPEC_FUNCTION;
}

int probe_spec_parse(struct probe_spec *spec, const char *text, struct run_failure *failure)
{
    const char *colon = find_colon(text), *name = text;
    uint64_t line;

    *spec = (struct probe_spec){.text = text};
    if (colon != NULL && !read_number(colon + 1, 10, &line)) { /* FILE:LINE has no object */
        spec->object = strndup(text, (size_t)(colon - text));
        name = colon + 1;
    }
    if (name[0] == 0 || colon == text)
        return run_fail(failure,
                        "--probe %s: %s is missing; write FUNC, OBJECT:FUNC, FUNC+0xOFF, "
                        "FILE:LINE, 0xADDRESS or @all",
                        text, colon == text ? "the object" : "the function");
    spec->name = strdup(name);
    if (spec->name == NULL || (name != text && spec->object == NULL))
        return run_fail(failure, "out of memory; end other programs");
    read_kind(spec);
    return 0;
}

void probe_spec_free(struct probe_spec *spec)
{
    free(spec->object);
    free(spec->name);
    *spec = (struct probe_spec){0};
}
