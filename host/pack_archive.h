/* Writes files, directories and links into a cpio archive, each name once.
 *
 * Names are absolute host paths; the archive holds them without the leading slash, and every parent
 * directory before its contents.  Inode numbers, owners and order do not depend on the host, so
 * that the same input gives the same archive.
 */
#ifndef HOST_PACK_ARCHIVE_H
#define HOST_PACK_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/run_failure.h"

struct pack_archive {
    int fd;
    uint64_t bytes; /* written so far */
    uint64_t limit_bytes; /* the guest's memory: what is larger is refused before it is read */
    uint32_t next_inode;
    void *names; /* a tsearch tree of what the archive holds */
    struct run_failure *failure;
};

void pack_archive_init(struct pack_archive *a, int fd, uint64_t limit_bytes,
                       struct run_failure *failure);

/* Adds bytes from memory as a regular file.  Its parents are left to a later entry below them, so
 * that it can be the archive's first.
 */
int pack_archive_add_bytes(struct pack_archive *a, const char *name, const void *bytes,
                           size_t count);

/* Adds one open regular file. */
int pack_archive_add_file(struct pack_archive *a, const char *name, int from,
                          const struct stat *status);

/* Adds an empty directory, with its parents. */
int pack_archive_add_directory(struct pack_archive *a, const char *name);

/* Adds the file or tree at `path` under the name `name`; "" for the archive's root.  Symbolic links
 * stay links; sockets, pipes and devices are left out.
 */
int pack_archive_add_tree(struct pack_archive *a, const char *path, const char *name);

/* Ends the archive and frees the names. */
int pack_archive_finish(struct pack_archive *a);
void pack_archive_free(struct pack_archive *a);

#endif
