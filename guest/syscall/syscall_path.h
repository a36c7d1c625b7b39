/* Path arguments of system calls. */
#ifndef GUEST_SYSCALL_SYSCALL_PATH_H
#define GUEST_SYSCALL_SYSCALL_PATH_H

#include "guest/fs/fs.h"
#include "guest/thread/thread.h"

/* The program's string at `user`, to be given back by syscall_path_free; NULL: *error says why. */
char *syscall_path_read(uint64_t user, int *error);
void syscall_path_free(char *path);

/* fs_walk from a directory's descriptor or AT_FDCWD; a name that is missing is noted for --missing.
 * 0: `found` is to be given back by fs_found_release; -errno. */
int syscall_walk_path(struct thread *thread, int64_t directory, const char *path, uint32_t flags,
                      struct fs_found *found);
int syscall_walk(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags,
                 struct fs_found *found);

/* The same by the AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH of a call. */
int syscall_walk_at(struct thread *thread, int64_t directory, uint64_t user, uint32_t at_flags,
                    struct fs_found *found);

/* What was found; NULL: an open file without an inode.  Not held. */
struct inode *syscall_inode_of(const struct fs_found *found);

#endif
