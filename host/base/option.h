/* Options of a command line whose argument is only checked and stored. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind { /* what is stored at the offset */
                   OPTION_TEXT, /* const char *: the argument */
                   OPTION_FLAG, /* bool: true */
                   OPTION_TIME, /* uint64_t: ns, of an argument with a unit */
                   OPTION_BYTES, /* uint64_t: bytes */
                   OPTION_NUMBER, /* uint64_t: decimal */
};

struct option_field {
    int key; /* 0 ends a list */
    enum option_kind kind;
    size_t offset; /* in the struct of the options */
    const char *name; /* of an option with a value, for messages */
    const char *wrong; /* what is wrong with an argument that is no such value */
    uint64_t least, most; /* limits of a value; most 0: none */
};

/* Stores what was given for the key.  Returns false if the list has no such key.  A wrong argument
 * ends the command, as argp_error does. */
bool option_store(const struct option_field *fields, int key, char *argument, void *options,
                  const struct argp_state *state);

/* Reads a decimal number from `least` to `most`, digits alone.  Returns 0 or -EINVAL. */
int option_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Returns the number of a word in a list of words, or -1. */
int option_word(const char *word, const char *const *words, size_t count);
