/* Path arguments of system calls. */
#pragma once

#include "guest/fs/fs.h"
#include "guest/thread/thread.h"

/* Reads the program's string at `user`; release it with syscall_path_free.  Returns NULL on
 * failure, with the reason in *error. */
char *syscall_path_read(uint64_t user, int *error);
void syscall_path_free(char *path);

/* fs_walk from a directory's descriptor or AT_FDCWD; notes a missing name for --missing.  Returns
 * 0, then release `found` with fs_found_release, or -errno. */
int syscall_walk_path(struct thread *thread, int64_t directory, const char *path, uint32_t flags,
                      struct fs_found *found);
int syscall_walk(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags,
                 struct fs_found *found);

/* syscall_walk with the AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH flags of a call. */
int syscall_walk_at_path(struct thread *thread, int64_t directory, const char *path,
                         uint32_t at_flags, struct fs_found *found);
int syscall_walk_at(struct thread *thread, int64_t directory, uint64_t user, uint32_t at_flags,
                    struct fs_found *found);

/* Returns the inode that was found, not held; NULL: an open file without an inode. */
struct inode *syscall_inode_of(const struct fs_found *found);
