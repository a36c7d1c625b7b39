/* System calls that read and write open files. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/fs/fs_kept.h"
#include "guest/vm/uaccess.h"

#define VECTORS_MAX 1024

/* Reads or writes at the file's offset or the call's own, and advances it. */
typedef int64_t move_part(struct thread *thread, struct file *file, uint64_t *offset, uint64_t user,
                          uint64_t bytes);

static int64_t read_some(struct thread *thread, struct file *file, uint64_t *offset, uint64_t user,
                         uint64_t bytes)
{
    int64_t result;

    if (bytes > SYSCALL_IO_MAX)
        bytes = SYSCALL_IO_MAX;
    result = file->type->read(thread, file, *offset, user, bytes);
    if (result > 0 && file->type->seekable)
        *offset += (uint64_t)result;
    return result;
}

/* Advances the offset before a wait, so that another thread writes after this one. */
static int64_t write_some(struct thread *thread, struct file *file, uint64_t *offset, uint64_t user,
                          uint64_t bytes)
{
    int64_t result;

    if (bytes > SYSCALL_IO_MAX)
        bytes = SYSCALL_IO_MAX;
    if (file->flags & O_APPEND && file->inode != NULL && S_ISREG(file->inode->mode))
        *offset = file->inode->bytes;
    result = file->type->write(thread, file, *offset, user, bytes);
    if (result > 0 && file->type->seekable)
        *offset += (uint64_t)result;
    if (result > 0 && file->type == &file_regular)
        fs_kept_written(file->inode);
    return result;
}

/* What a call does with a file.  It holds the file: another thread may close it during a wait. */
typedef int64_t move_parts(struct thread *thread, const struct trap_frame *frame, struct file *file,
                           uint64_t *offset, move_part *part);

static int64_t one_part(struct thread *thread, const struct trap_frame *frame, struct file *file,
                        uint64_t *offset, move_part *part)
{
    return part(thread, file, offset, frame->rsi, frame->rdx);
}

/* Reads or writes each part until one falls short. */
static int64_t each_part(struct thread *thread, const struct trap_frame *frame, struct file *file,
                         uint64_t *offset, move_part *move)
{
    uint64_t total = 0, count = frame->rdx;

    if (count > VECTORS_MAX)
        return -EINVAL;
    for (uint64_t i = 0; i < count; i++) {
        struct iovec part;
        int64_t result;

        if (copy_from_user(&part, frame->rsi + i * sizeof part, sizeof part) != 0)
            return total ? (int64_t)total : -EFAULT;
        if (part.iov_len > (uint64_t)INT64_MAX - total)
            return total ? (int64_t)total : -EINVAL;
        if (!part.iov_len)
            continue;
        if (part.iov_len > SYSCALL_IO_MAX - total) /* of the whole call, as in Linux */
            part.iov_len = SYSCALL_IO_MAX - total;
        result = move(thread, file, offset, (uint64_t)part.iov_base, part.iov_len);
        if (result < 0)
            return total ? (int64_t)total : result;
        total += (uint64_t)result;
        if ((uint64_t)result < part.iov_len || total == SYSCALL_IO_MAX)
            break;
    }
    return (int64_t)total;
}

struct direction {
    uint32_t refused; /* O_ACCMODE of files that are open for the other direction alone */
    move_part *part;
};
static const struct direction reading = {O_WRONLY, read_some}, writing = {O_RDONLY, write_some};

/* Returns the file, or NULL and *error. */
static struct file *file_for(const struct thread *thread, uint64_t fd,
                             const struct direction *direction, int64_t *error)
{
    struct file *file = files_get(thread->process, (int32_t)fd);

    *error = -EBADF;
    if (file == NULL || (file->flags & O_PATH) || (file->flags & O_ACCMODE) == direction->refused)
        return NULL;
    *error = -EINVAL;
    return (direction == &reading ? file->type->read : file->type->write) != NULL ? file : NULL;
}

static int64_t at_offset(struct thread *thread, const struct trap_frame *frame, move_parts *parts,
                         const struct direction *direction)
{
    int64_t result;
    struct file *file = file_for(thread, frame->rdi, direction, &result);

    if (file == NULL)
        return result;
    files_hold(file);
    result = parts(thread, frame, file, &file->offset, direction->part);
    files_release(file);
    return result;
}

/* Reads or writes at an offset of the call's own. */
static int64_t positioned(struct thread *thread, const struct trap_frame *frame, uint64_t offset,
                          move_parts *parts, const struct direction *direction)
{
    int64_t result;
    struct file *file = file_for(thread, frame->rdi, direction, &result);

    if (file == NULL)
        return result;
    if ((int64_t)offset < 0)
        return -EINVAL;
    if (!file->type->seekable)
        return -ESPIPE;
    files_hold(file);
    result = parts(thread, frame, file, &offset, direction->part);
    files_release(file);
    return result;
}

int64_t syscall_read(struct thread *thread, struct trap_frame *frame)
{
    return at_offset(thread, frame, one_part, &reading);
}

int64_t syscall_write(struct thread *thread, struct trap_frame *frame)
{
    return at_offset(thread, frame, one_part, &writing);
}

int64_t syscall_readv(struct thread *thread, struct trap_frame *frame)
{
    return at_offset(thread, frame, each_part, &reading);
}

int64_t syscall_writev(struct thread *thread, struct trap_frame *frame)
{
    return at_offset(thread, frame, each_part, &writing);
}

int64_t syscall_pread64(struct thread *thread, struct trap_frame *frame)
{
    return positioned(thread, frame, frame->r10, one_part, &reading);
}

int64_t syscall_pwrite64(struct thread *thread, struct trap_frame *frame)
{
    return positioned(thread, frame, frame->r10, one_part, &writing);
}

int64_t syscall_preadv(struct thread *thread, struct trap_frame *frame)
{
    return positioned(thread, frame, frame->r10, each_part, &reading);
}

int64_t syscall_pwritev(struct thread *thread, struct trap_frame *frame)
{
    return positioned(thread, frame, frame->r10, each_part, &writing);
}

/* Checks the flags of preadv2 and pwritev2: what they ask for holds anyway, or has no meaning here.
 */
static int64_t check_flags(const struct trap_frame *frame)
{
    const uint32_t known = RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND;

    return (uint32_t)frame->r9 & ~known ? -EOPNOTSUPP : 0;
}

int64_t syscall_preadv2(struct thread *thread, struct trap_frame *frame)
{
    int64_t error = check_flags(frame);

    if (error)
        return error;
    return frame->r10 == UINT64_MAX ? syscall_readv(thread, frame) : syscall_preadv(thread, frame);
}

/* Writes at the end of the file; advances its offset only if that was asked for. */
static int64_t io_append(struct thread *thread, const struct trap_frame *frame)
{
    int64_t error;
    struct file *file = file_for(thread, frame->rdi, &writing, &error);

    if (file == NULL)
        return error;
    if (frame->r10 != UINT64_MAX)
        return positioned(thread, frame, files_size(file), each_part, &writing);
    if (file->type->seekable)
        file->offset = files_size(file);
    return at_offset(thread, frame, each_part, &writing);
}

int64_t syscall_pwritev2(struct thread *thread, struct trap_frame *frame)
{
    int64_t error = check_flags(frame);

    if (error)
        return error;
    if (frame->r9 & RWF_APPEND)
        return io_append(thread, frame);
    return frame->r10 == UINT64_MAX ? syscall_writev(thread, frame)
                                    : syscall_pwritev(thread, frame);
}

static bool is_contents(const struct file *file)
{
    return file->inode != NULL && S_ISREG(file->inode->mode) && file->inode->generate == NULL;
}

/* Returns the position that an offset means, or -errno. */
static int64_t seek_target(const struct file *file, int64_t offset, uint64_t whence)
{
    int64_t base = 0;
    uint64_t found;

    switch (whence) {
    case SEEK_SET:
        break;
    case SEEK_CUR:
        base = (int64_t)file->offset;
        break;
    case SEEK_END:
        if (!is_contents(file))
            return -EINVAL;
        base = (int64_t)file->inode->bytes;
        break;
    case SEEK_DATA:
    case SEEK_HOLE:
        if (!is_contents(file))
            return -EINVAL;
        if (offset < 0)
            return -ENXIO;
        found = inode_seek(file->inode, (uint64_t)offset, whence == SEEK_DATA);
        return found == UINT64_MAX ? -ENXIO : (int64_t)found;
    default:
        return -EINVAL;
    }
    if (__builtin_add_overflow(base, offset, &offset))
        return -EOVERFLOW;
    return offset < 0 ? -EINVAL : offset;
}

int64_t syscall_lseek(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int64_t target;

    if (file == NULL || (file->flags & O_PATH))
        return -EBADF;
    if (!file->type->seekable && !file->type->ignores_seeks)
        return -ESPIPE;
    if (file->type->ignores_seeks || S_ISCHR(file->type->mode))
        return frame->rdx > SEEK_HOLE ? -EINVAL : 0;
    target = seek_target(file, (int64_t)frame->rsi, (uint32_t)frame->rdx);
    if (target >= 0)
        file->offset = (uint64_t)target;
    return target;
}

int64_t syscall_fsync(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    if (file == NULL || (file->flags & O_PATH))
        return -EBADF;
    if (file->inode == NULL || (file->inode->type != NULL && !S_ISFIFO(file->inode->mode)))
        return -EINVAL;
    return 0;
}
