/* Path arguments of system calls: reads them and walks them. */
#include "guest/syscall/file/syscall_path.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/file/files.h"
#include "guest/fs/fs_missing.h"
#include "guest/memory/phys.h"
#include "guest/vm/uaccess.h"

static char *spare; /* room for one path, not in use */

static char *take_room(void)
{
    char *room = spare;
    uint64_t block;

    spare = NULL;
    if (room != NULL)
        return room;
    block = phys_alloc(0);
    return block ? phys_pointer(block) : NULL;
}

char *syscall_path_read(uint64_t user, int *error)
{
    char *path = take_room();
    int result;

    *error = -ENOMEM;
    if (path == NULL)
        return NULL;
    result = copy_string_from_user(path, user, FS_PATH_MAX);
    *error = result < 0 ? result : 0;
    if (!*error)
        return path;
    syscall_path_free(path);
    return NULL;
}

void syscall_path_free(char *path)
{
    if (spare == NULL)
        spare = path;
    else if (path != NULL)
        phys_free((uint64_t)path - DIRECT_MAP, 0);
}

/* Returns the directory that a relative path starts from, not held. */
static struct fs_entry *base_of(struct thread *thread, int64_t directory, const char *path,
                                int *error)
{
    const struct file *file;

    *error = 0;
    if ((int32_t)directory == AT_FDCWD)
        return thread->process->place->directory;
    if (*path == '/')
        return fs_root;
    file = files_get(thread->process, (int32_t)directory);
    if (file != NULL && file->entry != NULL && S_ISDIR(file->entry->inode->mode))
        return file->entry;
    *error = file != NULL ? -ENOTDIR : -EBADF;
    return NULL;
}

int syscall_walk_path(struct thread *thread, int64_t directory, const char *path, uint32_t flags,
                      struct fs_found *found)
{
    int error;
    struct fs_entry *base = base_of(thread, directory, path, &error);

    if (!error || (error == -ENOTDIR && !*path))
        error = *path ? fs_walk(thread, base, path, flags, found) : -ENOENT;
    if (error == -ENOENT && *path)
        fs_missing_note(base, path);
    return error;
}

int syscall_walk(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags,
                 struct fs_found *found)
{
    int error;
    char *path = syscall_path_read(user, &error);

    if (path != NULL)
        error = syscall_walk_path(thread, directory, path, flags, found);
    syscall_path_free(path);
    return error;
}

/* Finds what the descriptor itself refers to, or the working directory. */
static int find_open(struct thread *thread, int64_t directory, struct fs_found *found)
{
    struct file *file;

    *found = (struct fs_found){0};
    if ((int32_t)directory == AT_FDCWD) {
        found->entry = thread->process->place->directory;
        fs_entry_hold(found->entry);
        return 0;
    }
    file = files_get(thread->process, (int32_t)directory);
    if (file == NULL)
        return -EBADF;
    if (file->entry != NULL) {
        found->entry = file->entry;
        fs_entry_hold(found->entry);
    } else {
        found->file = file;
        files_hold(file);
    }
    return 0;
}

int syscall_walk_at_path(struct thread *thread, int64_t directory, const char *path,
                         uint32_t at_flags, struct fs_found *found)
{
    uint32_t flags = at_flags & AT_SYMLINK_NOFOLLOW ? 0 : FS_FOLLOW;

    if (!*path && at_flags & AT_EMPTY_PATH)
        return find_open(thread, directory, found);
    return syscall_walk_path(thread, directory, path, flags, found);
}

int syscall_walk_at(struct thread *thread, int64_t directory, uint64_t user, uint32_t at_flags,
                    struct fs_found *found)
{
    int error;
    char *path = syscall_path_read(user, &error);

    if (path != NULL)
        error = syscall_walk_at_path(thread, directory, path, at_flags, found);
    syscall_path_free(path);
    return error;
}

struct inode *syscall_inode_of(const struct fs_found *found)
{
    return found->entry != NULL  ? found->entry->inode
           : found->file != NULL ? found->file->inode
                                 : NULL;
}
