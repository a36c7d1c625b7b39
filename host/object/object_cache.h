/* Keeps the ELF files that ran, by build-id, so that old traces have names after a program was
 * rebuilt in place or removed.
 *
 * It keeps copies of files outside the system's directories; system files come back from packages
 * and debuginfod.  It copies because a file may be overwritten in place.  The copies are files of
 * host/base/cache.h named object-BUILDID; reading one updates its time of use.  They are hostile
 * input: the code that opens a file checks its build-id.  Never prints.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_CACHE_BYTES_MAX (1ull << 30) /* of all files; the least recently used go first */
#define OBJECT_CACHE_FILE_BYTES_MAX (256ull << 20) /* a larger file is not kept */
#define OBJECT_CACHE_ID_BYTES_MIN 3 /* shorter build-ids name no file */
#define OBJECT_CACHE_ID_BYTES_MAX 64

/* Returns whether to keep the file at an absolute path without symbolic links. */
bool object_cache_wants(const char *path);

/* One run may use at most half of the cache. */
struct object_cache {
    int directory; /* -1: there is no cache */
    uint64_t bytes; /* copied so far */
};

void object_cache_begin(struct object_cache *c);

/* Keeps a file if it is an ELF file with a build-id. */
void object_cache_keep(struct object_cache *c, const char *path);

/* Removes the least recently used files. */
void object_cache_end(struct object_cache *c);

/* Opens the file kept for a build-id and stores its path.  Returns a descriptor, or -ENOENT. */
int object_cache_open(const uint8_t *build_id, size_t bytes, char path[PATH_MAX]);
