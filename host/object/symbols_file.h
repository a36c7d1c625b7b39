/* Which file on disk serves a load map: the recorded path, --program instead of the program's own,
 * Microtome's kernel and vdso.so beside hr, else any file of that build-id in the debug folders,
 * kept since it ran (host/object/object_cache.h), or from a debuginfod server.
 *
 * A file is only taken when its build-id is the map's (a map without one takes any).  Files and
 * paths are hostile input.  Never prints.
 */
#ifndef HOST_OBJECT_SYMBOLS_FILE_H
#define HOST_OBJECT_SYMBOLS_FILE_H

#include <stdbool.h>

#include "host/object/symbols_options.h"
#include "host/trace/trace_info.h"

struct symbols_file {
    int fd; /* of a regular ELF file for x86-64: a program, a library; -1: none; owned */
    char *path; /* that was opened; owned */
};

/* The recorded path of the program: of the first map of a file that is not the kernel's; NULL: no
 * map names it.
 */
const char *symbols_file_program(const struct trace_info *info);

/* Whether a map shows a file at all: anonymous memory does not. */
bool symbols_file_named(const struct trace_map *map);

/* Opens the file behind a map; `program` says whether the map is the program's, whose path
 * options->program replaces.  options NULL: the defaults.  0; -ENOENT: not there; -ESTALE: there is
 * only one of another build-id; -ENOEXEC: no ELF program or library for x86-64; -ENOMEM; or what
 * open() said.  Nothing needs closing after an error.
 */
int symbols_file_open(struct symbols_file *file, const struct trace_map *map, bool program,
                      const struct symbols_options *options);
void symbols_file_close(struct symbols_file *file);

#endif
