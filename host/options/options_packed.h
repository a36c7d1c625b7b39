/* An archive of hr pack in the place of a program, for hr run. */
#pragma once

#include <stdbool.h>

#include "host/options/options_archive.h"
#include "lib/boot/manifest.h"

struct options_packed {
    int fd; /* the archive */
    size_t first_bytes; /* of the manifest's entry, with which the archive begins */
    bool replaced; /* -e replaces its events */
    struct manifest manifest; /* owned */
};

/* Returns whether the file begins as an archive of hr pack does. */
bool options_packed_is(const char *path);

/* Opens an archive and reads its manifest, which stays in memory.  Returns 0, or -1 with the
 * failure filled. */
int options_packed_open(struct options_packed *packed, const char *path,
                        struct run_failure *failure);

/* Opens the archive that is named in the program's place, which fixes most options, and completes
 * the others.  Returns 0, or -1 with the failure filled. */
int options_packed_finish(struct options_parsing *parsing);
