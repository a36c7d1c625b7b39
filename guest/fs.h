/* The read-only files of the run archive. */
#ifndef GUEST_FS_H
#define GUEST_FS_H

#include <stddef.h>
#include <stdint.h>

struct fs_node {
    const char *name; /* without a leading slash */
    const uint8_t *data;
    uint64_t bytes;
    uint32_t mode;
    uint32_t inode;
};

/* Indexes the archive.  0, -EINVAL when damaged (logged), -ENOMEM. */
int fs_init(const void *archive, size_t bytes);

/* The node at an absolute path, or relative to cwd; follows symbolic links (at most 40), handles
 * "." and "..".  0, -ENOENT, -ENOTDIR, -ELOOP.
 */
int fs_find(const char *cwd, const char *path, const struct fs_node **node);

#endif
