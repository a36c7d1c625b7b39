/* Reads TOML 1.0 (https://toml.io/en/v1.0.0): tables, arrays of tables, dotted keys, inline tables,
 * arrays, strings, integers, floats and booleans; dates are refused.  Strict and bounded, because a
 * file may be anybody's.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"

#define TOML_BYTES_MAX (1u << 20)
#define TOML_DEPTH_MAX 16u /* of arrays and inline tables in each other, and of dotted keys */
#define TOML_ITEMS_MAX 4096u /* of one table or array */

enum toml_kind { TOML_STRING, TOML_INTEGER, TOML_FLOAT, TOML_BOOLEAN, TOML_ARRAY, TOML_TABLE };

struct toml {
    enum toml_kind kind;
    unsigned int line; /* where it begins */
    char *key; /* in a table; owned; NULL in an array */
    char *text; /* of a string: UTF-8 without a zero byte; owned */
    int64_t integer;
    double real;
    bool boolean;
    bool closed; /* nothing can be added: it was written as one value */
    bool named; /* a table that a [header] named */
    bool dotted; /* a table that dotted keys made */
    bool tables; /* an array of [[tables]] */
    struct toml **items; /* of a table or an array; owned */
    size_t count;
};

/* Parses a text.  `name` is the file's, for messages: "NAME:LINE: what".  Returns the table of all,
 * which the caller frees, or NULL with the failure filled. */
struct toml *toml_parse(const char *bytes, size_t count, const char *name,
                        struct run_failure *failure);
void toml_free(struct toml *value);

/* Returns the value of a key; NULL if the table has none. */
const struct toml *toml_find(const struct toml *table, const char *key);

/* "a string", "a table" ... */
const char *toml_kind_words(enum toml_kind kind);
