/* The read-only files of the run archive. */
#ifndef GUEST_FS_H
#define GUEST_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FS_PATH_MAX 4096u /* NUL included */

struct fs_node {
    const char *name; /* without a leading slash; "" is the root directory */
    const uint8_t *data;
    uint64_t bytes;
    uint32_t mode;
    uint32_t inode;
};

/* Indexes the archive; directories that it only implies are added.  0, -EINVAL when damaged
 * (logged), -ENOMEM.  A name that occurs again replaces the earlier file.
 */
int fs_init(const void *archive, size_t bytes);

/* The node at an absolute path, or relative to cwd; follows symbolic links (at most 40), handles
 * "." and "..".  0, -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG, -ENOMEM.
 */
int fs_find(const char *cwd, const char *path, const struct fs_node **node);

/* The same; a symbolic link at the end of the path is itself the result unless `follow`. */
int fs_find_link(const char *cwd, const char *path, bool follow, const struct fs_node **node);

/* Iterates over a directory's entries: *position is 0 at first; NULL at the end.  The name of the
 * entry is the end of its node's name, from fs_base_name() on.
 */
const struct fs_node *fs_next_child(const struct fs_node *directory, uint64_t *position);
const char *fs_base_name(const struct fs_node *node);

#endif
