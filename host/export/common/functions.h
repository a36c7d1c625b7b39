/* The functions that a trace's addresses lie in, numbered from 0 in the order of their appearance.
 *
 * Where nothing says where a function ends, a range of 4 KiB takes its place.  Memory is bounded:
 * what finds no room is function 0, which has no name.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/symbols/symbols.h"

#define FUNCTIONS_MAX (1u << 18) /* 16 MB */
#define FUNCTIONS_CACHE_BITS 14
#define FUNCTIONS_LABEL_BYTES 1024u

struct function {
    const char *name; /* raw; NULL if unknown; lives as long as the symbols, as does object */
    const char *object; /* file name without folders; NULL if in no file */
    uint64_t start;
    uint64_t end;
    bool kernel;
};

struct functions {
    struct symbols *symbols;
    struct function *rows; /* row 0 stands for all that found no room; owned */
    uint32_t count;
    uint32_t *index; /* hash table of row numbers, 0: free; owned */
    struct functions_cached {
        uint64_t address;
        uint32_t function; /* 0: free */
    } * cache; /* owned */
};

/* 0 or -ENOMEM; the symbols are borrowed. */
int functions_init(struct functions *functions, struct symbols *symbols);
void functions_free(struct functions *functions);

/* The number of the function at an address. */
uint32_t functions_at(struct functions *functions, uint64_t address);

/* A function's name, or its file as "[libc.so.6]", or "[unknown]"; escaped for people.  Returns
 * `label`. */
char *functions_label(const struct function *function, char label[FUNCTIONS_LABEL_BYTES]);
