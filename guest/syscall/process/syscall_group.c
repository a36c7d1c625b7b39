/* System calls about process groups and sessions. */
#include <errno.h>

#include "guest/base/syscall_handlers.h"
#include "guest/thread/threads.h"

/* Returns the process that a call names, the caller's for 0, or NULL. */
static struct process *group_named(const struct thread *caller, uint64_t pid)
{
    return (uint32_t)pid ? process_find((uint32_t)pid) : caller->process;
}

int64_t syscall_getppid(struct thread *thread, struct trap_frame *)
{
    return process_parent_pid(thread->process);
}

int64_t syscall_getpgrp(struct thread *thread, struct trap_frame *)
{
    return thread->process->group;
}

int64_t syscall_getpgid(struct thread *thread, struct trap_frame *frame)
{
    const struct process *process = group_named(thread, frame->rdi);

    return process != NULL ? (int64_t)process->group : -ESRCH;
}

int64_t syscall_getsid(struct thread *thread, struct trap_frame *frame)
{
    const struct process *process = group_named(thread, frame->rdi);

    return process != NULL ? (int64_t)process->session : -ESRCH;
}

/* As Linux: a process may move itself and its children that have not called execve, within its
 * session, into an own group or one that is there. */
int64_t syscall_setpgid(struct thread *thread, struct trap_frame *frame)
{
    const struct process *self = thread->process;
    struct process *process = group_named(thread, frame->rdi);
    uint32_t group;

    if ((int32_t)frame->rsi < 0)
        return -EINVAL;
    if (process == NULL)
        return -ESRCH;
    if (process != self) {
        if (process->parent != self)
            return -ESRCH;
        if (process->session != self->session)
            return -EPERM;
        if (process->executed)
            return -EACCES;
    }
    if (process->session == process->pid)
        return -EPERM;
    group = (uint32_t)frame->rsi ? (uint32_t)frame->rsi : process->pid;
    if (group != process->pid && !process_has_group(group, self->session))
        return -EPERM;
    process->group = group;
    return 0;
}

int64_t syscall_setsid(struct thread *thread, struct trap_frame *)
{
    struct process *process = thread->process;

    if (process->session == process->pid || process_uses_id(process->pid))
        return -EPERM;
    process->group = process->session = process->pid;
    return process->session;
}
