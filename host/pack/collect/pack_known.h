/* A table of the files that well-known programs and libraries open at run time although the command
 * line does not name them.  A program that is not in it needs --file or --root for such files. */
#pragma once

#include <stdint.h>

struct pack_known {
    const char *pattern; /* fnmatch, for the base name of the program or of a library */
    const char *const *paths; /* glob patterns of files and trees.  %p: the prefix that the program
                                 is installed in (/usr for /usr/bin/x); %d: its directory; %v: the
                                 version at the end of its name (3.11 of python3.11); %w: the
                                 working directory of the command */
    const char *const *except; /* fnmatch patterns of what is left out of the trees */
    const char *const *libraries; /* names of libraries that it loads with dlopen */
    const char *const *siblings; /* glob patterns of files near a script that it may load */
    uint64_t tree_bytes_max; /* 0: PACK_KNOWN_TREE_BYTES */
};

#define PACK_KNOWN_TREE_BYTES (64ull << 20) /* a larger tree is left out, with a notice */
#define PACK_KNOWN_TREE_FILES 20000u

/* Returns the next entry for a base name, or NULL at the end; *position is 0 at first. */
const struct pack_known *pack_known_next(const char *name, unsigned *position);

/* Files of the system that any program may open. */
extern const char *const pack_known_system[];
