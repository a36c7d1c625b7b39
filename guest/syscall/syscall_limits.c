/* System calls about limits and use of resources. */
#include <errno.h>
#include <linux/resource.h>
#include <linux/sysinfo.h>
#include <linux/time_types.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/thread/limits.h"
#include "guest/thread/process.h"
#include "guest/thread/schedule.h"
#include "guest/vm/uaccess.h"

#define NS_PER_SECOND 1000000000ull

/* Applies the limits that the kernel enforces. */
static void limits_apply(void)
{
    struct vm_space *space = process_first.space;

    space->stack_limit = limits_now[RLIMIT_STACK].soft;
    space->address_limit = limits_now[RLIMIT_AS].soft;
    space->data_limit = limits_now[RLIMIT_DATA].soft;
    files_limit(&process_first, limits_now[RLIMIT_NOFILE].soft);
}

static int64_t limits_change(uint32_t resource, uint64_t new_user, uint64_t old_user)
{
    struct limit old, new;

    if (resource >= RLIM_NLIMITS)
        return -EINVAL;
    old = limits_now[resource];
    if (new_user) {
        if (copy_from_user(&new, new_user, sizeof new) != 0)
            return -EFAULT;
        if (new.soft > new.hard)
            return -EINVAL;
        if (new.hard > old.hard)
            return -EPERM;
        limits_now[resource] = new;
        limits_apply();
    }
    return old_user ? copy_to_user(old_user, &old, sizeof old) : 0;
}

int64_t syscall_getrlimit(struct thread *, struct trap_frame *frame)
{
    return frame->rsi ? limits_change((uint32_t)frame->rdi, 0, frame->rsi) : -EFAULT;
}

int64_t syscall_setrlimit(struct thread *, struct trap_frame *frame)
{
    return frame->rsi ? limits_change((uint32_t)frame->rdi, frame->rsi, 0) : -EFAULT;
}

int64_t syscall_prlimit64(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rdi && (uint32_t)frame->rdi != thread->process->pid)
        return -ESRCH;
    return limits_change((uint32_t)frame->rsi, frame->rdx, frame->r10);
}

struct usage { /* struct rusage; unnamed members are 0, on Linux too or here */
    int64_t user_seconds, user_us;
    int64_t system_seconds, system_us;
    int64_t peak_kib;
    int64_t unused0[3];
    int64_t page_faults;
    int64_t unused1[7];
    int64_t waits;
    int64_t preemptions;
};
_Static_assert(sizeof(struct usage) == 144, "rusage");

static void fill_usage(struct usage *usage, uint64_t all_ticks, uint64_t user_ticks,
                       const struct thread_use *use)
{
    uint64_t user = run_ticks_to_ns(user_ticks), all = run_ticks_to_ns(all_ticks);
    uint64_t system = all > user ? all - user : 0;

    *usage = (struct usage){.user_seconds = (int64_t)(user / NS_PER_SECOND),
                            .user_us = (int64_t)(user % NS_PER_SECOND / 1000),
                            .system_seconds = (int64_t)(system / NS_PER_SECOND),
                            .system_us = (int64_t)(system % NS_PER_SECOND / 1000),
                            .peak_kib = (int64_t)(phys_peak_bytes() >> 10),
                            .page_faults = (int64_t)use->page_faults,
                            .waits = (int64_t)use->waits,
                            .preemptions = (int64_t)use->preemptions};
}

int64_t syscall_getrusage(struct thread *thread, struct trap_frame *frame)
{
    struct usage usage = {0};

    switch ((int32_t)frame->rdi) {
    case RUSAGE_SELF:
        fill_usage(&usage, schedule_process_ticks(), schedule_process_user_ticks(),
                   &thread->process->use);
        break;
    case RUSAGE_THREAD:
        fill_usage(&usage, schedule_thread_ticks(thread), schedule_thread_user_ticks(thread),
                   &thread->use);
        break;
    case RUSAGE_CHILDREN:
        break;
    default:
        return -EINVAL;
    }
    return copy_to_user(frame->rsi, &usage, sizeof usage);
}

int64_t syscall_sysinfo(struct thread *, struct trap_frame *frame)
{
    struct sysinfo info;

    memset(&info, 0, sizeof info);
    info.uptime = (int64_t)(clock_monotonic_ns() / NS_PER_SECOND);
    info.totalram = phys_total_bytes();
    info.freeram = phys_free_bytes();
    info.procs = 1;
    info.mem_unit = 1;
    return copy_to_user(frame->rdi, &info, sizeof info);
}
