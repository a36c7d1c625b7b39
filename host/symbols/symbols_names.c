/* Keeps texts in a hash table. */
#include "host/symbols/symbols_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/symbols_demangle.h"
#include "lib/hash.h"

#define OVERHEAD_BYTES 32u /* of the allocation and the table, for each text */

void symbols_names_free(struct symbols_names *names)
{
    for (size_t i = 0; i < names->room; i++)
        free(names->texts[i]);
    free(names->texts);
    *names = (struct symbols_names){0};
}

static size_t hash(const char *text, size_t bytes)
{
    uint64_t value = hash_bytes(HASH_BYTES_START, text, bytes);

    return (size_t)(value ^ value >> 29);
}

/* Returns where a text is, or where it belongs. */
static char **place(const struct symbols_names *names, const char *text, size_t bytes)
{
    size_t i = hash(text, bytes) & (names->room - 1);

    while (names->texts[i] != NULL &&
           (strncmp(names->texts[i], text, bytes) != 0 || names->texts[i][bytes] != 0))
        i = (i + 1) & (names->room - 1);
    return &names->texts[i];
}

static bool grow(struct symbols_names *names)
{
    struct symbols_names larger = *names;

    larger.room = names->room != 0 ? names->room * 2 : 1024;
    larger.texts = calloc(larger.room, sizeof larger.texts[0]);
    if (larger.texts == NULL)
        return false;
    for (size_t i = 0; i < names->room; i++)
        if (names->texts[i] != NULL)
            *place(&larger, names->texts[i], strlen(names->texts[i])) = names->texts[i];
    free(names->texts);
    *names = larger;
    return true;
}

const char *symbols_names_keep(struct symbols_names *names, const char *text, size_t bytes)
{
    char **at;

    bytes = strnlen(text, bytes);
    if (names->count >= names->room / 2 && !grow(names))
        return NULL;
    at = place(names, text, bytes);
    if (*at != NULL)
        return *at;
    if (names->bytes + bytes + OVERHEAD_BYTES > SYMBOLS_NAMES_BYTES_MAX)
        return NULL;
    *at = strndup(text, bytes);
    if (*at != NULL) {
        names->bytes += bytes + OVERHEAD_BYTES;
        names->count++;
    }
    return *at;
}

static const char *keep_stub(struct symbols_names *names, const char *function)
{
    char *text;
    const char *kept;

    if (function == NULL || asprintf(&text, "%s" SYMBOLS_NAMES_STUB, function) < 0)
        return NULL;
    kept = symbols_names_keep(names, text, strlen(text));
    free(text);
    return kept;
}

const char *symbols_names_function(struct symbols_names *names, const char *name, bool raw)
{
    size_t bytes = name[0] == 0 ? 0 : 1 + strcspn(name + 1, "@");
    const char *kept = symbols_names_keep(names, name, bytes);
    char *plain = kept != NULL && !raw ? symbols_demangle(kept) : NULL;

    if (plain != NULL)
        kept = symbols_names_keep(names, plain, strlen(plain));
    free(plain);
    return strcmp(name + bytes, SYMBOLS_NAMES_STUB) == 0 ? keep_stub(names, kept) : kept;
}
