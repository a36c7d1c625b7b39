/* System calls about limits and use of resources. */
#include <errno.h>
#include <linux/resource.h>
#include <linux/sysinfo.h>
#include <linux/time_types.h>
#include <string.h>

#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/syscall/process/usage.h"
#include "guest/thread/limits.h"
#include "guest/thread/process.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

/* Applies the limits that the kernel enforces. */
static void limits_apply(struct process *process)
{
    struct vm_space *space = process->space;

    if (space == NULL) /* it ends */
        return;
    space->stack_limit = process->limits[RLIMIT_STACK].soft;
    space->address_limit = process->limits[RLIMIT_AS].soft;
    space->data_limit = process->limits[RLIMIT_DATA].soft;
    files_limit(process, process->limits[RLIMIT_NOFILE].soft);
}

static int64_t limits_change(struct process *process, uint32_t resource, uint64_t new_user,
                             uint64_t old_user)
{
    struct limit old, new;

    if (resource >= RLIM_NLIMITS)
        return -EINVAL;
    old = process->limits[resource];
    if (new_user) {
        if (copy_from_user(&new, new_user, sizeof new) != 0)
            return -EFAULT;
        if (new.soft > new.hard)
            return -EINVAL;
        if (new.hard > old.hard)
            return -EPERM;
        process->limits[resource] = new;
        limits_apply(process);
    }
    return old_user ? copy_to_user(old_user, &old, sizeof old) : 0;
}

int64_t syscall_getrlimit(struct thread *thread, struct trap_frame *frame)
{
    return frame->rsi ? limits_change(thread->process, (uint32_t)frame->rdi, 0, frame->rsi)
                      : -EFAULT;
}

int64_t syscall_setrlimit(struct thread *thread, struct trap_frame *frame)
{
    return frame->rsi ? limits_change(thread->process, (uint32_t)frame->rdi, frame->rsi, 0)
                      : -EFAULT;
}

int64_t syscall_prlimit64(struct thread *thread, struct trap_frame *frame)
{
    const struct thread *target = frame->rdi ? threads_find((uint32_t)frame->rdi) : thread;

    if (target == NULL)
        return -ESRCH;
    return limits_change(target->process, (uint32_t)frame->rsi, frame->rdx, frame->r10);
}

int64_t syscall_getrusage(struct thread *thread, struct trap_frame *frame)
{
    const struct process *process = thread->process;

    switch ((int32_t)frame->rdi) {
    case RUSAGE_SELF:
        return usage_write(frame->rsi, schedule_process_ticks(process),
                           schedule_process_user_ticks(process), &process->use);
    case RUSAGE_THREAD:
        return usage_write(frame->rsi, schedule_thread_ticks(thread),
                           schedule_thread_user_ticks(thread), &thread->use);
    case RUSAGE_CHILDREN:
        return usage_write(frame->rsi, process->children_use.used_ticks,
                           process->children_use.use.user_ticks, &process->children_use.use);
    default:
        return -EINVAL;
    }
}

int64_t syscall_sysinfo(struct thread *, struct trap_frame *frame)
{
    struct sysinfo info;

    memset(&info, 0, sizeof info);
    info.uptime = (int64_t)(clock_monotonic_ns() / NS_PER_SECOND);
    info.totalram = phys_total_bytes();
    info.freeram = phys_free_bytes();
    info.procs = (uint16_t)threads_count();
    info.mem_unit = 1;
    return copy_to_user(frame->rdi, &info, sizeof info);
}
