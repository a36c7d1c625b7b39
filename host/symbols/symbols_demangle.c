/* Demangles with libiberty, which bounds its depth; size and time are bounded here. */
#include "host/symbols/symbols_demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX 8192u
#define NAME_BYTES_MAX 4096u
#define PAIRS_MAX (64u << 10) /* 1 MB of stack */

struct text {
    size_t used;
    jmp_buf full;
    char bytes[TEXT_BYTES_MAX];
};

/* libiberty has no way to stop: a name of 100 bytes may stand for a text of terabytes.  It works on
 * the stack, so a jump over its frames leaks nothing (except a few bytes for a Rust identifier in
 * punycode). */
static void take(const char *piece, size_t bytes, void *opaque)
{
    struct text *text = opaque;

    if (bytes >= sizeof text->bytes - text->used)
        longjmp(text->full, 1);
    if (bytes != 0) /* `piece` may be NULL then */
        memcpy(text->bytes + text->used, piece, bytes);
    text->used += bytes;
}

/* libiberty refuses names of more than 1024 bytes by default, because it needs stack for each byte
 * and for each pair of a template and a parameter.  C++ has longer names. */
static int depth_option(const char *name)
{
    size_t templates = 1, parameters = 1;

    for (const char *c = name; *c != 0; c++) {
        templates += *c == 'I';
        parameters += *c == 'T';
    }
    return templates * parameters <= PAIRS_MAX ? DMGL_NO_RECURSE_LIMIT : 0;
}

/* Rust comes first, because its older names are valid C++, too. */
static bool demangle(const char *name, struct text *text)
{
    int options = DMGL_PARAMS | DMGL_ANSI;

    text->used = 0;
    if (setjmp(text->full) != 0)
        return false;
    if (rust_demangle_callback(name, options, take, text))
        return text->used != 0;
    text->used = 0;
    return cplus_demangle_v3_callback(name, options | depth_option(name), take, text) &&
           text->used != 0;
}

char *symbols_demangle(const char *name)
{
    struct text *text;
    char *result = NULL;

    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
        strnlen(name, NAME_BYTES_MAX) == NAME_BYTES_MAX)
        return NULL;
    text = malloc(sizeof *text);
    if (text != NULL && demangle(name, text) && memchr(text->bytes, 0, text->used) == NULL)
        result = strndup(text->bytes, text->used);
    free(text);
    return result;
}
