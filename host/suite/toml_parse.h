/* The parts of the TOML parser: keys and tables above (toml.c), values below (toml_value.c, which
 * calls back for inline tables), strings at the bottom (toml_string.c). */
#pragma once

#include "host/suite/toml.h"

struct toml_parser {
    const char *name; /* of the file */
    const char *at, *end;
    unsigned int line;
    unsigned int depth; /* of values in each other */
    struct run_failure *failure;
};

/* Fills the failure with "NAME:LINE: " and the text; returns -1. */
int toml_wrong(const struct toml_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool toml_sees(const struct toml_parser *p, const char *text, size_t bytes)
{
    return (size_t)(p->end - p->at) >= bytes && __builtin_memcmp(p->at, text, bytes) == 0;
}

/* Takes a character if it is the next one. */
static inline bool toml_take(struct toml_parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

/* Passes over blanks; and over line ends and comments, too.  Return 0, or -1: a bad character. */
void toml_blanks(struct toml_parser *p);
int toml_lines(struct toml_parser *p);

struct toml *toml_make(const struct toml_parser *p, enum toml_kind kind);

/* Appends an item, which becomes the list's in any case.  Returns 0, or -1 with the failure. */
int toml_append(const struct toml_parser *p, struct toml *list, struct toml *item);

/* Parse what begins here.  Return the result, which the caller frees, or NULL with the failure. */
char *toml_string(struct toml_parser *p);
struct toml *toml_value(struct toml_parser *p);

/* Parses KEY = VALUE into a table.  Returns 0, or -1 with the failure. */
int toml_pair(struct toml_parser *p, struct toml *table);
