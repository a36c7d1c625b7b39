/* Names and lines of code that was made at run time: perf maps and perf's jitdumps.  Hostile input.
 *
 * Where pieces of code were at the same address, the later one counts: in a perf map the later
 * line, in a jitdump the later time.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/trace_names.h"

#define SYMBOLS_JIT_CODES_MAX (4u << 20)

struct symbols_jit_line {
    uint64_t address; /* from here on */
    const char *file; /* in the files' bytes, as all texts here */
    uint32_t line;
};

struct symbols_jit_code {
    uint64_t start;
    uint64_t end;
    const char *name;
    const struct trace_jit_file *file;
    uint64_t order; /* a later one covers an earlier one */
    uint32_t first_line; /* in `lines` */
    uint32_t line_count;
};

struct symbols_jit_range { /* a part of a piece of code that no later one covers */
    uint64_t start;
    uint64_t end;
    uint32_t code;
};

struct symbols_jit { /* all zero: empty */
    struct symbols_jit_code *codes;
    size_t count;
    struct symbols_jit_line *lines;
    size_t line_count;
    struct symbols_jit_range *ranges; /* ascending, disjoint */
    size_t range_count;
    size_t refused; /* lines and records that do not parse, and code beyond the bound */
};

/* Reads a file, whose bytes it changes (names get their NULs) and which must live as long.  Returns
 * 0 or -ENOMEM. */
int symbols_jit_add(struct symbols_jit *jit, const struct trace_jit_file *file);

/* Call after the last file, and before any look-up.  Returns 0 or -ENOMEM. */
int symbols_jit_finish(struct symbols_jit *jit);
void symbols_jit_free(struct symbols_jit *jit);

/* Returns the code at an address, or NULL. */
const struct symbols_jit_code *symbols_jit_find(const struct symbols_jit *jit, uint64_t address);

/* Returns the line at an address of `code`, or NULL. */
const struct symbols_jit_line *symbols_jit_line(const struct symbols_jit *jit,
                                                const struct symbols_jit_code *code,
                                                uint64_t address);
