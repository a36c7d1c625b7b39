/* What well-known programs and libraries open at run time without being told to on the command
 * line: a table.  A program that is not in it needs --file or --root for such files.
 */
#ifndef HOST_PACK_PACK_KNOWN_H
#define HOST_PACK_PACK_KNOWN_H

#include <stdint.h>

struct pack_known {
    const char *pattern; /* fnmatch, of the base name of the program or of a library */
    const char *const *paths; /* files and trees, glob patterns.  %p: the prefix that the program
                                 is installed in (/usr for /usr/bin/x); %d: its directory; %v: the
                                 version behind its name (3.11 of python3.11); %w: where the
                                 command is run */
    const char *const *except; /* fnmatch patterns of what is left out of the trees */
    const char *const *libraries; /* that it loads with dlopen, by name */
    const char *const *siblings; /* glob patterns: files beside a script that it may load */
    uint64_t tree_bytes_max; /* 0: PACK_KNOWN_TREE_BYTES */
};

#define PACK_KNOWN_TREE_BYTES (64ull << 20) /* a larger tree is left out, with a notice */
#define PACK_KNOWN_TREE_FILES 20000u

/* The entries for a base name: *position is 0 at first; NULL at the end. */
const struct pack_known *pack_known_next(const char *name, unsigned *position);

/* Files of the system that any program may open. */
extern const char *const pack_known_system[];

#endif
