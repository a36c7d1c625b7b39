/* Finds the file on disk for a load map: the recorded path, --program instead of the program's own
 * path, Microtome's kernel and vdso.so in the directory of hr, else any file of that build-id in
 * the debug folders, in the cache (host/object/object_cache.h), or from a debuginfod server.
 *
 * A file is only taken if it has the map's build-id (a map without one takes any file).  Files and
 * paths are hostile input.  Never prints.
 */
#pragma once

#include <stdbool.h>

#include "host/object/symbols_options.h"
#include "host/trace/trace_info.h"

struct symbols_file {
    int fd; /* a regular ELF program or library for x86-64; -1: none; owned */
    char *path; /* path of the opened file; owned */
};

/* Returns the recorded path of the program: that of the first map of a file other than the
 * kernel's; NULL if no map names it. */
const char *symbols_file_program(const struct trace_info *info);

/* Returns whether a map shows a file at all; anonymous memory does not. */
bool symbols_file_named(const struct trace_map *map);

/* Opens the file of a map.  `program`: the map is the program's, whose path options->program
 * replaces.  options may be NULL for the defaults.  Returns 0; -ENOENT: no file; -ESTALE: only a
 * file with another build-id; -ENOEXEC: not an ELF program or library for x86-64; -ENOMEM; or the
 * error of open().  Nothing needs closing after an error. */
int symbols_file_open(struct symbols_file *file, const struct trace_map *map, bool program,
                      const struct symbols_options *options);
void symbols_file_close(struct symbols_file *file);
