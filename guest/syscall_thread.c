/* System calls that threads are made of, as far as one thread alone can use them. */
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <string.h>

#include "guest/service.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define ROBUST_LIST_BYTES 24u
#define NICE_DEFAULT 20 /* getpriority's way of saying 0 */
#define POLICY_FIFO 1u
#define POLICY_ROUND_ROBIN 2u

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

    if (frame->rdi && (uint32_t)frame->rdi != thread->tid)
        return -ESRCH;
    error = copy_to_user(frame->rsi, &thread->robust_list, sizeof thread->robust_list);
    if (!error)
        error =
            copy_to_user(frame->rdx, &thread->robust_list_bytes, sizeof thread->robust_list_bytes);
    return error;
}

int64_t syscall_unsupported(struct thread *thread, struct trap_frame *frame)
{
    (void)thread;
    (void)frame;
    return -ENOSYS;
}

/* Nobody can wake the waiter: it waits for its timeout, or the run ends. */
static int64_t futex_wait(struct thread *thread, const struct trap_frame *frame, bool absolute)
{
    uint32_t value;
    uint64_t ns, now;
    int error;

    if (frame->rdi & 3)
        return -EINVAL;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (value != (uint32_t)frame->rdx)
        return -EAGAIN;
    if (!frame->r10)
        syscall_deadlock(thread, "futex");
    error = syscall_read_time(frame->r10, &ns);
    if (error)
        return error;
    if (absolute) {
        now = frame->rsi & FUTEX_CLOCK_REALTIME ? service_realtime_ns() : service_monotonic_ns();
        ns = ns > now ? ns - now : 0;
    }
    if (ns)
        service_sleep(ns);
    return -ETIMEDOUT;
}

int64_t syscall_futex(struct thread *thread, struct trap_frame *frame)
{
    uint32_t value;

    switch (frame->rsi & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return futex_wait(thread, frame, false);
    case FUTEX_WAIT_BITSET:
        return (uint32_t)frame->r9 ? futex_wait(thread, frame, true) : -EINVAL;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
        if (frame->rdi & 3)
            return -EINVAL;
        return copy_from_user(&value, frame->rdi, sizeof value);
    case FUTEX_CMP_REQUEUE:
        if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
            return -EFAULT;
        return value == (uint32_t)frame->r9 ? 0 : -EAGAIN;
    default:
        return -ENOSYS;
    }
}

int64_t syscall_membarrier(struct thread *thread, struct trap_frame *frame)
{
    const uint32_t supported = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
                               MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    uint32_t command = (uint32_t)frame->rdi;

    (void)thread;
    if (command == MEMBARRIER_CMD_QUERY)
        return supported;
    return (command & ~supported) || (command & (command - 1)) ? -EINVAL : 0;
}

int64_t syscall_getcpu(struct thread *thread, struct trap_frame *frame)
{
    const uint32_t zero = 0;
    int error = 0;

    (void)thread;
    if (frame->rdi)
        error = copy_to_user(frame->rdi, &zero, sizeof zero);
    if (!error && frame->rsi)
        error = copy_to_user(frame->rsi, &zero, sizeof zero);
    return error;
}

static bool own(const struct thread *thread, uint64_t tid)
{
    return tid == 0 || (uint32_t)tid == thread->tid;
}

int64_t syscall_sched_getaffinity(struct thread *thread, struct trap_frame *frame)
{
    const uint64_t first = 1;
    int error;

    if (!own(thread, frame->rdi))
        return -ESRCH;
    if (frame->rsi < sizeof first || frame->rsi % sizeof first)
        return -EINVAL;
    error = copy_to_user(frame->rdx, &first, sizeof first);
    return error ? error : (int64_t)sizeof first;
}

int64_t syscall_sched_setaffinity(struct thread *thread, struct trap_frame *frame)
{
    uint8_t mask = 0;

    if (!own(thread, frame->rdi))
        return -ESRCH;
    if (frame->rsi && copy_from_user(&mask, frame->rdx, sizeof mask) != 0)
        return -EFAULT;
    return mask & 1 ? 0 : -EINVAL;
}

int64_t syscall_sched_getparam(struct thread *thread, struct trap_frame *frame)
{
    const int32_t priority = 0;

    if (!own(thread, frame->rdi))
        return -ESRCH;
    return copy_to_user(frame->rsi, &priority, sizeof priority);
}

int64_t syscall_sched_setscheduler(struct thread *thread, struct trap_frame *frame)
{
    if (!own(thread, frame->rdi))
        return -ESRCH;
    return frame->rsi == 0 ? 0 : -EPERM;
}

int64_t syscall_sched_priority(struct thread *thread, struct trap_frame *frame)
{
    bool real_time = frame->rdi == POLICY_FIFO || frame->rdi == POLICY_ROUND_ROBIN;

    (void)thread;
    if (frame->rdi > 6 || frame->rdi == 4)
        return -EINVAL;
    return real_time ? (frame->vector == __NR_sched_get_priority_max ? 99 : 1) : 0;
}

int64_t syscall_getpriority(struct thread *thread, struct trap_frame *frame)
{
    (void)thread;
    return frame->rdi > 2 ? -EINVAL : NICE_DEFAULT;
}
