/* Texts that live as long as the symbols.  Each is kept once, all of them in bounded memory.  Never
 * prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SYMBOLS_NAMES_BYTES_MAX (32u << 20)

struct symbols_names { /* all zero: empty */
    char **texts; /* hash table, NULL: free; owned, as are the texts */
    size_t room;
    size_t count;
    size_t bytes;
};

void symbols_names_free(struct symbols_names *names);

/* Returns a text equal to the first `bytes` bytes of `text`.  NULL if there is no room. */
const char *symbols_names_keep(struct symbols_names *names, const char *text, size_t bytes);

#define SYMBOLS_NAMES_STUB "@plt" /* suffix of a stub's name; it is kept */

/* Returns the name of a function for people: without the version of a symbol (memcpy@@GLIBC_2.14),
 * and demangled unless `raw`.  NULL if there is no room. */
const char *symbols_names_function(struct symbols_names *names, const char *name, bool raw);
