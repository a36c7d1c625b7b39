/* Keeps the ELF files that ran, by build-id, so that old traces have names after a program was
 * rebuilt in place or removed.
 *
 * Kept are files outside the system's directories (those come back from packages and debuginfod),
 * as copies: a file may be written over in place.  They are files of host/base/cache.h, each by the
 * name object-BUILDID.  Reading one is its last use.  What is there is hostile: who opens a file
 * checks that it has the build-id.  Never prints.
 */
#ifndef HOST_OBJECT_OBJECT_CACHE_H
#define HOST_OBJECT_OBJECT_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_CACHE_BYTES_MAX (1ull << 30) /* of all files: the oldest go */
#define OBJECT_CACHE_FILE_BYTES_MAX (256ull << 20) /* a larger one is not kept */
#define OBJECT_CACHE_ID_BYTES_MIN 3 /* shorter build-ids name no file */
#define OBJECT_CACHE_ID_BYTES_MAX 64

/* Whether a file at an absolute path, without symbolic links, is one to keep. */
bool object_cache_wants(const char *path);

/* Of one run at most half of all. */
struct object_cache {
    int directory; /* -1: there is none */
    uint64_t bytes; /* that were copied */
};

void object_cache_begin(struct object_cache *c);

/* Keeps a file when it is an ELF file with a build-id. */
void object_cache_keep(struct object_cache *c, const char *path);

/* Removes what is too old. */
void object_cache_end(struct object_cache *c);

/* Opens the file that is kept by the name of a build-id: its descriptor, and its path; or
 * -ENOENT. */
int object_cache_open(const uint8_t *build_id, size_t bytes, char path[PATH_MAX]);

#endif
