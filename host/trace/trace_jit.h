/* Names and lines of code that was made at run time: perf maps and perf's jitdumps.  Hostile input.
 *
 * Where pieces of code were at the same address, the later one counts: in a perf map the later
 * line, in a jitdump the later time.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

#define TRACE_JIT_CODES_MAX (4u << 20)

/* Where code that shares its addresses with other code is looked up: trace_jit_place. */
#define TRACE_JIT_PLACES 0x4a49000000000000ull /* no address of a program, nor of Python's code */
#define TRACE_JIT_PLACES_END (TRACE_JIT_PLACES + (1ull << 48))

struct trace_jit_file {
    struct hr_meta_jit_file meta;
    char *path;
    uint8_t *bytes; /* a NUL follows */
    size_t count;
};

struct trace_jit_line {
    uint64_t address; /* from here on */
    const char *file; /* in the files' bytes, as all texts here */
    uint32_t line;
};

struct trace_jit_code {
    uint64_t start;
    uint64_t end;
    const char *name;
    const struct trace_jit_file *file;
    uint64_t order; /* a later one covers an earlier one */
    uint32_t first_line; /* in `lines` */
    uint32_t line_count;
    uint64_t place; /* where its addresses are looked up, too; 0: nowhere */
    bool timed; /* `order` is a time of the program, in nanoseconds */
};

struct trace_jit_range { /* a part of a piece of code that no later one covers */
    uint64_t start;
    uint64_t end;
    uint32_t code;
};

struct trace_jit { /* all zero: empty */
    struct trace_jit_code *codes;
    size_t count;
    struct trace_jit_line *lines;
    size_t line_count;
    struct trace_jit_range *ranges; /* ascending, disjoint */
    size_t range_count;
    uint32_t *timed; /* pieces with times that share addresses, in the order of their starts */
    size_t timed_count;
    uint64_t timed_bytes; /* of the longest of them */
    uint64_t place; /* of the first of them, and at last the end of their places */
    size_t refused; /* lines and records that do not parse, and code beyond the bound */
};

/* Reads a file, whose bytes it changes (names get their NULs) and which must live as long.  Returns
 * 0 or -ENOMEM. */
int trace_jit_add(struct trace_jit *jit, const struct trace_jit_file *file);

/* Call after the last file, and before any look-up; `place` may be where that of another one has
 * ended.  Returns 0 or -ENOMEM. */
int trace_jit_finish(struct trace_jit *jit);
void trace_jit_free(struct trace_jit *jit);

/* Returns the code at an address, or NULL. */
const struct trace_jit_code *trace_jit_find(const struct trace_jit *jit, uint64_t address);

/* Returns what to look up for code that ran at an address at a time of the program, in nanoseconds:
 * the place of the piece of code that was there then; the address where that does not matter. */
uint64_t trace_jit_place(const struct trace_jit *jit, uint64_t address, uint64_t time_ns);

/* Returns the line at an address of `code`, or NULL. */
const struct trace_jit_line *trace_jit_line(const struct trace_jit *jit,
                                            const struct trace_jit_code *code, uint64_t address);
