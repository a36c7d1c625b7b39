/* System calls that duplicate and control descriptors. */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/file_owner.h"
#include "guest/file/files.h"
#include "guest/file/pipe.h"
#include "guest/syscall/file/syscall_lock.h"

#define STATUS_FLAGS_SETTABLE (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME)
#define SEALS \
    (uint32_t)(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

int64_t syscall_dup(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file != NULL ? files_add(thread->process, file, 0, false) : -EBADF;
}

int64_t syscall_dup2(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int32_t fd = (int32_t)frame->rsi;

    if (file == NULL)
        return -EBADF;
    if (fd == (int32_t)frame->rdi)
        return fd;
    return files_put(thread->process, file, fd, false);
}

int64_t syscall_dup3(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    uint32_t flags = (uint32_t)frame->rdx;

    if ((flags & ~(uint32_t)O_CLOEXEC) || (uint32_t)frame->rdi == (uint32_t)frame->rsi)
        return -EINVAL;
    return file != NULL ? files_put(thread->process, file, (int32_t)frame->rsi, flags) : -EBADF;
}

int64_t syscall_close_range(struct thread *thread, struct trap_frame *frame)
{
    uint32_t first = (uint32_t)frame->rdi, last = (uint32_t)frame->rsi;
    uint32_t flags = (uint32_t)frame->rdx;

    if ((flags & ~(uint32_t)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) || first > last)
        return -EINVAL;
    if (last >= FILES_MAX)
        last = FILES_MAX - 1;
    for (uint32_t fd = first; fd <= last; fd++) {
        if (files_get(thread->process, fd) == NULL)
            continue;
        if (flags & CLOSE_RANGE_CLOEXEC)
            files_set_close_on_exec(thread->process, fd, true);
        else
            files_close(thread->process, fd);
    }
    return 0;
}

static int64_t control_pipe(const struct file *file, uint32_t command, uint64_t argument)
{
    struct pipe *pipe = pipe_of(file);

    if (pipe == NULL)
        return -EBADF;
    return command == F_GETPIPE_SZ ? pipe->buffer.size : pipe_resize(pipe, (uint32_t)argument);
}

static int64_t control_seals(const struct file *file, uint32_t command, uint32_t seals)
{
    struct inode *inode = file->inode;

    if (inode == NULL || !inode->can_seal)
        return -EINVAL;
    if (command == F_GET_SEALS)
        return inode->seals;
    if (seals & ~SEALS)
        return -EINVAL;
    if ((file->flags & O_ACCMODE) == O_RDONLY || inode->seals & F_SEAL_SEAL)
        return -EPERM;
    if (seals & F_SEAL_WRITE && inode->mappings)
        return -EBUSY;
    inode->seals |= seals;
    return 0;
}

/* Handles the commands that need more than a file's name (O_PATH). */
static int64_t control_file(struct thread *thread, struct file *file, uint32_t command,
                            uint64_t argument)
{
    switch (command) {
    case F_SETFL:
        file->flags = (file->flags & ~(uint32_t)STATUS_FLAGS_SETTABLE) |
                      ((uint32_t)argument & STATUS_FLAGS_SETTABLE);
        return 0;
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return syscall_lock_control(thread, file, command, argument);
    case F_GETOWN:
    case F_SETOWN:
    case F_GETOWN_EX:
    case F_SETOWN_EX:
    case F_GETSIG:
    case F_SETSIG:
        return file_owner_control(file, command, argument);
    case F_GETLEASE:
        return F_UNLCK;
    case F_ADD_SEALS:
    case F_GET_SEALS:
        return control_seals(file, command, (uint32_t)argument);
    case F_GETPIPE_SZ:
    case F_SETPIPE_SZ:
        return control_pipe(file, command, argument);
    default:
        return -EINVAL;
    }
}

int64_t syscall_fcntl(struct thread *thread, struct trap_frame *frame)
{
    struct process *process = thread->process;
    int32_t fd = (int32_t)frame->rdi;
    struct file *file = files_get(process, fd);
    uint32_t command = (uint32_t)frame->rsi;

    if (file == NULL)
        return -EBADF;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return files_add(process, file, (int32_t)frame->rdx, command == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return files_close_on_exec(process, fd) ? FD_CLOEXEC : 0;
    case F_SETFD:
        files_set_close_on_exec(process, fd, frame->rdx & FD_CLOEXEC);
        return 0;
    case F_GETFL:
        return file->flags;
    default:
        if (file->flags & O_PATH)
            return -EBADF;
        return control_file(thread, file, command, frame->rdx);
    }
}
