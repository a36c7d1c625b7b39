/* System calls that change how long a file is and where it has holes. */
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/syscall/file/syscall_path.h"

static int64_t set_size(struct thread *thread, struct inode *inode, uint64_t size)
{
    uint64_t growth = size > inode->bytes ? size - inode->bytes : 0;
    int64_t error;

    if ((int64_t)size < 0)
        return -EINVAL;
    if ((growth && inode->seals & F_SEAL_GROW) ||
        (size < inode->bytes && inode->seals & F_SEAL_SHRINK))
        return -EPERM;
    error = growth ? file_size_limit(thread, size - 1, &(uint64_t){1}) : 0;
    if (!error)
        error = inode_truncate(inode, size);
    return error == -ENOMEM ? -ENOSPC : error;
}

int64_t syscall_truncate(struct thread *thread, struct trap_frame *frame)
{
    struct fs_found found;
    struct inode *inode;
    int64_t error;

    if ((int64_t)frame->rsi < 0)
        return -EINVAL;
    error = syscall_walk(thread, AT_FDCWD, frame->rdi, FS_FOLLOW, &found);
    if (error)
        return error;
    inode = syscall_inode_of(&found);
    if (inode != NULL && S_ISDIR(inode->mode))
        error = -EISDIR;
    else if (inode == NULL || !S_ISREG(inode->mode))
        error = -EINVAL;
    else
        error = fs_permission(inode, W_OK);
    if (!error && inode->runs)
        error = -ETXTBSY;
    if (!error && inode->generate == NULL)
        error = set_size(thread, inode, frame->rsi);
    fs_found_release(&found);
    return error;
}

/* Returns the inode of a file that is open for writing, or NULL and *error. */
static struct inode *size_writable(const struct thread *thread, uint64_t fd, int64_t otherwise,
                                   int64_t *error)
{
    const struct file *file = files_get(thread->process, (int32_t)fd);

    *error = -EBADF;
    if (file == NULL || file->flags & O_PATH)
        return NULL;
    *error = otherwise;
    return (file->flags & O_ACCMODE) != O_RDONLY && file->inode != NULL &&
                   S_ISREG(file->inode->mode) && file->inode->generate == NULL
               ? file->inode
               : NULL;
}

int64_t syscall_ftruncate(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct inode *inode = size_writable(thread, frame->rdi, -EINVAL, &error);

    if ((int64_t)frame->rsi < 0)
        return -EINVAL;
    return inode != NULL ? set_size(thread, inode, frame->rsi) : error;
}

/* Only checks that there is room: pages are made when they are written. */
static int64_t size_reserve(struct thread *thread, struct inode *inode, uint64_t end,
                            bool keep_size)
{
    uint64_t growth = end > inode->bytes ? end - inode->bytes : 0;

    if (growth > phys_free_bytes())
        return -ENOSPC;
    return growth && !keep_size ? set_size(thread, inode, end) : 0;
}

int64_t syscall_fallocate(struct thread *thread, struct trap_frame *frame)
{
    uint32_t mode = (uint32_t)frame->rsi;
    bool keep_size = mode & FALLOC_FL_KEEP_SIZE;
    uint64_t offset = frame->rdx, bytes = frame->r10;
    struct inode *inode;
    int64_t error;

    if ((int64_t)offset < 0 || (int64_t)bytes <= 0)
        return -EINVAL;
    if (mode & ~(uint32_t)(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) ||
        (mode & FALLOC_FL_PUNCH_HOLE && !keep_size) ||
        (mode & FALLOC_FL_PUNCH_HOLE && mode & FALLOC_FL_ZERO_RANGE))
        return -EOPNOTSUPP;
    inode = size_writable(thread, frame->rdi, -EBADF, &error);
    if (inode == NULL)
        return error;
    if (inode->type != NULL)
        return -EOPNOTSUPP;
    if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) && inode_sealed(inode, 0, 0))
        return -EPERM;
    if (offset + bytes > INT64_MAX)
        return -EFBIG;
    if (!(mode & FALLOC_FL_PUNCH_HOLE))
        error = size_reserve(thread, inode, offset + bytes, keep_size);
    else
        error = 0;
    if (!error && mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
        error = inode_punch(inode, offset, bytes);
    return error == -ENOMEM ? -ENOSPC : error;
}

int64_t syscall_sync_file_range(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if (file == NULL || file->flags & O_PATH)
        return -EBADF;
    if ((int64_t)frame->rsi < 0 || (int64_t)frame->rdx < 0 || frame->r10 & ~7ull)
        return -EINVAL;
    return file->inode != NULL && !S_ISCHR(file->inode->mode) ? 0 : -ESPIPE;
}
