/* System calls that duplicate and control descriptors. */
#include <errno.h>
#include <linux/fcntl.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define STATUS_FLAGS_SETTABLE (O_APPEND | O_NONBLOCK | O_NOATIME)

int64_t syscall_dup(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file ? files_add(thread->process, file, 0, false) : -EBADF;
}

int64_t syscall_dup2(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int32_t fd = (int32_t)frame->rsi;

    if (!file)
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
    return file ? files_put(thread->process, file, (int32_t)frame->rsi, flags) : -EBADF;
}

int64_t syscall_fcntl(struct thread *thread, struct trap_frame *frame)
{
    struct process *process = thread->process;
    int32_t fd = (int32_t)frame->rdi;
    struct file *file = files_get(process, fd);

    if (!file)
        return -EBADF;
    switch (frame->rsi) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return files_add(process, file, (int32_t)frame->rdx, frame->rsi == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return files_close_on_exec(process, fd) ? FD_CLOEXEC : 0;
    case F_SETFD:
        files_set_close_on_exec(process, fd, frame->rdx & FD_CLOEXEC);
        return 0;
    case F_GETFL:
        return file->flags;
    case F_SETFL:
        file->flags = (file->flags & ~(uint32_t)STATUS_FLAGS_SETTABLE) |
                      ((uint32_t)frame->rdx & STATUS_FLAGS_SETTABLE);
        return 0;
    case F_SETLK: /* nobody else holds a lock */
    case F_SETLKW:
        return 0;
    default:
        return -EINVAL;
    }
}
