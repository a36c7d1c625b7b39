/* Source lines and inlined functions of a file, from its debug information (libdw).  Hostile input;
 * never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/probe/probe_file.h"

struct probe_line {
    uint64_t scope; /* of the function, inlined or not, that the instruction is in */
    uint64_t address; /* its lowest one of the line */
};

struct probe_lines {
    struct probe_line *all; /* owned */
    size_t count;
    bool source_known; /* the debug information has that source file */
    uint64_t before, after; /* the nearest lines with code; 0: none */
};

/* Finds where the code of a line of a source file begins, once for each function that holds it.
 * `source` may lack folders.  Returns 0; -ENODATA: no debug information; other -errno. */
int probe_lines_find(struct probe_lines *lines, const struct probe_file *file, const char *source,
                     uint64_t line);
void probe_lines_free(struct probe_lines *lines);

/* Returns whether a function of that name exists only inlined into others. */
bool probe_lines_inlined(const struct probe_file *file, const char *name);
