/* System calls about threads: ids, CPUs, scheduling. */
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/resource.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/cross.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"
#include "lib/array.h"

#define ROBUST_LIST_BYTES 24u
#define NICE_DEFAULT 20 /* getpriority's way of saying 0 */
#define POLICY_OTHER 0u
#define POLICY_FIFO 1u
#define POLICY_ROUND_ROBIN 2u
#define POLICY_BATCH 3u
#define POLICY_IDLE 5u
#define REAL_TIME_PRIORITY_MAX 99
#define ATTRIBUTES_BYTES 48u /* SCHED_ATTR_SIZE_VER0 */

/* Returns the thread that a system call names, the caller for 0, or NULL. */
static struct thread *named(struct thread *caller, uint64_t tid)
{
    return (uint32_t)tid ? threads_find((uint32_t)tid) : caller;
}

int64_t syscall_set_tid_address(struct thread *thread, struct trap_frame *frame)
{
    thread->clear_child_tid = frame->rdi;
    return thread->tid;
}

int64_t syscall_set_robust_list(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rsi != ROBUST_LIST_BYTES)
        return -EINVAL;
    thread->robust_list = frame->rdi;
    thread->robust_list_bytes = frame->rsi;
    return 0;
}

int64_t syscall_get_robust_list(struct thread *thread, struct trap_frame *frame)
{
    int error;

    thread = named(thread, frame->rdi);
    if (thread == NULL)
        return -ESRCH;
    error = copy_to_user(frame->rsi, &thread->robust_list, sizeof thread->robust_list);
    if (!error)
        error =
            copy_to_user(frame->rdx, &thread->robust_list_bytes, sizeof thread->robust_list_bytes);
    return error;
}

/* Every command is a call to all CPUs that run a thread. */
static const struct barrier {
    uint32_t command, registration; /* 0: none is needed */
} barriers[] = {
    {MEMBARRIER_CMD_GLOBAL, 0},
    {MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0},
    {MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED},
    {MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
     MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE},
};
#define BARRIER_REGISTRATIONS                                                               \
    (MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | \
     MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)

int64_t syscall_membarrier(struct thread *thread, struct trap_frame *frame)
{
    uint32_t *registered = &thread->process->barriers;
    uint32_t command = (uint32_t)frame->rdi, all = BARRIER_REGISTRATIONS;

    if (frame->rsi)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_COUNT(barriers); i++)
        all |= barriers[i].command;
    if (command == MEMBARRIER_CMD_QUERY)
        return all;
    if ((command & ~all) || (command & (command - 1)))
        return -EINVAL;
    if (command & BARRIER_REGISTRATIONS) {
        *registered |= command;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_COUNT(barriers); i++)
        if (barriers[i].command == command && barriers[i].registration & ~*registered)
            return -EPERM;
    cross_flush(NULL, 0, 0);
    thread->after_call.return_by_iret = true; /* IRET serializes, as interrupts did on the others */
    return 0;
}

int64_t syscall_getcpu(struct thread *thread, struct trap_frame *frame)
{
    const uint32_t cpu = run_program_cpu(thread->schedule.cpu->index), node = 0;
    int error = 0;

    if (frame->rdi)
        error = copy_to_user(frame->rdi, &cpu, sizeof cpu);
    if (!error && frame->rsi)
        error = copy_to_user(frame->rsi, &node, sizeof node);
    return error;
}

static uint64_t program_cpus(void)
{
    return run.workload_cpus < 64 ? (1ull << run.workload_cpus) - 1 : ~0ull;
}

int64_t syscall_sched_getaffinity(struct thread *thread, struct trap_frame *frame)
{
    const struct thread *target = named(thread, frame->rdi);
    uint64_t mask;
    int error;

    if (target == NULL)
        return -ESRCH;
    if (frame->rsi < sizeof mask || frame->rsi % sizeof mask)
        return -EINVAL;
    mask = target->schedule.allowed_cpus & program_cpus();
    error = copy_to_user(frame->rdx, &mask, sizeof mask);
    return error ? error : (int64_t)sizeof mask;
}

int64_t syscall_sched_setaffinity(struct thread *thread, struct trap_frame *frame)
{
    struct thread *target = named(thread, frame->rdi);
    uint64_t mask = 0;
    uint64_t bytes = frame->rsi < sizeof mask ? frame->rsi : sizeof mask;

    if (target == NULL)
        return -ESRCH;
    if (copy_from_user(&mask, frame->rdx, bytes) != 0)
        return -EFAULT;
    if (!(mask & program_cpus()))
        return -EINVAL;
    target->schedule.allowed_cpus = mask & program_cpus();
    schedule_move(target);
    return 0;
}

int64_t syscall_sched_yield(struct thread *thread, struct trap_frame *)
{
    schedule_yield(thread);
    return 0;
}

int64_t syscall_sched_getparam(struct thread *thread, struct trap_frame *frame)
{
    const int32_t priority = 0;

    if (named(thread, frame->rdi) == NULL)
        return -ESRCH;
    return copy_to_user(frame->rsi, &priority, sizeof priority);
}

/* Without privileges a program may set any policy without a priority.  The scheduler treats all of
 * them alike. */
int64_t syscall_sched_setscheduler(struct thread *thread, struct trap_frame *frame)
{
    int32_t priority;

    if (named(thread, frame->rdi) == NULL)
        return -ESRCH;
    if (copy_from_user(&priority, frame->rdx, sizeof priority) != 0)
        return -EFAULT;
    switch (frame->rsi) {
    case POLICY_OTHER:
    case POLICY_BATCH:
    case POLICY_IDLE:
        return priority ? -EINVAL : 0;
    case POLICY_FIFO:
    case POLICY_ROUND_ROBIN:
        return priority < 1 || priority > REAL_TIME_PRIORITY_MAX ? -EINVAL : -EPERM;
    default:
        return -EINVAL;
    }
}

int64_t syscall_sched_setparam(struct thread *thread, struct trap_frame *frame)
{
    int32_t priority;

    if (named(thread, frame->rdi) == NULL)
        return -ESRCH;
    if (copy_from_user(&priority, frame->rsi, sizeof priority) != 0)
        return -EFAULT;
    return priority ? -EINVAL : 0;
}

int64_t syscall_sched_rr_get_interval(struct thread *thread, struct trap_frame *frame)
{
    const int64_t interval[2] = {0, SCHEDULE_SLICE_NS};

    if (named(thread, frame->rdi) == NULL)
        return -ESRCH;
    return copy_to_user(frame->rsi, interval, sizeof interval);
}

int64_t syscall_sched_getattr(struct thread *thread, struct trap_frame *frame)
{
    const uint32_t attributes[ATTRIBUTES_BYTES / 4] = {ATTRIBUTES_BYTES}; /* all else is 0 */

    if (frame->r10 || (uint32_t)frame->rdx < ATTRIBUTES_BYTES)
        return -EINVAL;
    if (named(thread, frame->rdi) == NULL)
        return -ESRCH;
    return copy_to_user(frame->rsi, attributes, sizeof attributes);
}

int64_t syscall_sched_priority(struct thread *, struct trap_frame *frame)
{
    bool real_time = frame->rdi == POLICY_FIFO || frame->rdi == POLICY_ROUND_ROBIN;

    if (frame->rdi > 6 || frame->rdi == 4)
        return -EINVAL;
    return real_time ? (frame->vector == __NR_sched_get_priority_max ? REAL_TIME_PRIORITY_MAX : 1)
                     : 0;
}

/* ---- niceness, which is kept but changes nothing ---- */

/* Calls `visit` for the processes that getpriority and setpriority mean.  Returns 0 or -errno. */
static int64_t each_nice(const struct thread *thread, const struct trap_frame *frame,
                         int64_t (*visit)(struct process *process, int32_t value, int64_t result))
{
    uint32_t kind = (uint32_t)frame->rdi, id = (uint32_t)frame->rsi;
    int64_t result = -ESRCH;

    if (kind > PRIO_USER)
        return -EINVAL;
    if (kind == PRIO_PROCESS) {
        const struct thread *target = named((struct thread *)thread, id);
        struct process *process = target != NULL ? target->process : process_find(id);

        return process != NULL ? visit(process, (int32_t)frame->rdx, result) : -ESRCH;
    }
    if (kind == PRIO_PGRP && !id)
        id = thread->process->group;
    if (kind == PRIO_USER && id && id != PROCESS_USER_ID)
        return -ESRCH;
    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        if (kind == PRIO_USER || p->group == id)
            result = visit(p, (int32_t)frame->rdx, result);
    return result;
}

/* getpriority returns the best one, as 20 minus niceness. */
static int64_t nice_best(struct process *process, int32_t, int64_t result)
{
    int64_t value = NICE_DEFAULT - process->nice;

    return value > result ? value : result;
}

static int64_t nice_set(struct process *process, int32_t value, int64_t result)
{
    value = value > NICE_DEFAULT - 1 ? NICE_DEFAULT - 1
            : value < -NICE_DEFAULT  ? -NICE_DEFAULT
                                     : value;
    if (value < process->nice)
        return -EACCES;
    process->nice = value;
    return result == -ESRCH ? 0 : result;
}

int64_t syscall_getpriority(struct thread *thread, struct trap_frame *frame)
{
    return each_nice(thread, frame, nice_best);
}

int64_t syscall_setpriority(struct thread *thread, struct trap_frame *frame)
{
    return each_nice(thread, frame, nice_set);
}
