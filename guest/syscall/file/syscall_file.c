/* System calls that close files, and calls that need no work. */
#include <errno.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"

int64_t syscall_close(struct thread *thread, struct trap_frame *frame)
{
    return files_close(thread->process, (int32_t)frame->rdi);
}

int64_t syscall_fd_nothing(struct thread *thread, struct trap_frame *frame)
{
    return files_get(thread->process, (int32_t)frame->rdi) != NULL ? 0 : -EBADF;
}

int64_t syscall_umask(struct thread *thread, struct trap_frame *frame)
{
    uint32_t old = thread->process->place->umask;

    thread->process->place->umask = (uint32_t)frame->rdi & 0777;
    return old;
}
