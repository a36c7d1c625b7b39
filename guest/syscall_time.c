/* System calls about time. */
#include <errno.h>
#include <linux/time.h>

#include "guest/service.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_TIMES_TICK 10000000ull /* AT_CLKTCK is 100 */

struct time64 { /* struct timespec; timeval counts microseconds */
    int64_t seconds;
    int64_t part;
};

int syscall_read_time(uint64_t user, uint64_t *ns)
{
    struct time64 t;

    if (copy_from_user(&t, user, sizeof t) != 0)
        return -EFAULT;
    if (t.seconds < 0 || t.part < 0 || t.part >= (int64_t)NS_PER_SECOND)
        return -EINVAL;
    if (__builtin_mul_overflow((uint64_t)t.seconds, NS_PER_SECOND, ns) ||
        __builtin_add_overflow(*ns, (uint64_t)t.part, ns) || *ns == UINT64_MAX)
        *ns = UINT64_MAX - 1;
    return 0;
}

static int64_t put_time(uint64_t user, uint64_t ns)
{
    const struct time64 t = {(int64_t)(ns / NS_PER_SECOND), (int64_t)(ns % NS_PER_SECOND)};

    return copy_to_user(user, &t, sizeof t);
}

static int read_clock(uint64_t clock, uint64_t *ns)
{
    switch ((int32_t)clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
        *ns = service_realtime_ns();
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        *ns = service_monotonic_ns();
        return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
    case -6: /* of the calling process */
        *ns = service_cpu_ns();
        return 0;
    case CLOCK_THREAD_CPUTIME_ID:
    case -2: /* of the calling thread */
        *ns = service_thread_cpu_ns();
        return 0;
    default:
        return -EINVAL;
    }
}

int64_t syscall_clock_gettime(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns;
    int error = read_clock(frame->rdi, &ns);

    (void)thread;
    return error ? error : put_time(frame->rsi, ns);
}

int64_t syscall_clock_getres(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns;
    int error = read_clock(frame->rdi, &ns);

    (void)thread;
    return error || !frame->rsi ? error : put_time(frame->rsi, 1);
}

int64_t syscall_gettimeofday(struct thread *thread, struct trap_frame *frame)
{
    const int32_t zone[2] = {0, 0};
    uint64_t ns = service_realtime_ns();
    const struct time64 t = {(int64_t)(ns / NS_PER_SECOND), (int64_t)(ns % NS_PER_SECOND / 1000)};
    int error = 0;

    (void)thread;
    if (frame->rdi)
        error = copy_to_user(frame->rdi, &t, sizeof t);
    if (!error && frame->rsi)
        error = copy_to_user(frame->rsi, zone, sizeof zone);
    return error;
}

int64_t syscall_time(struct thread *thread, struct trap_frame *frame)
{
    int64_t seconds = (int64_t)(service_realtime_ns() / NS_PER_SECOND);
    int error = 0;

    (void)thread;
    if (frame->rdi)
        error = copy_to_user(frame->rdi, &seconds, sizeof seconds);
    return error ? error : seconds;
}

int64_t syscall_times(struct thread *thread, struct trap_frame *frame)
{
    const int64_t ticks[4] = {(int64_t)(service_cpu_ns() / NS_PER_TIMES_TICK), 0, 0, 0};
    int error = 0;

    (void)thread;
    if (frame->rdi)
        error = copy_to_user(frame->rdi, ticks, sizeof ticks);
    return error ? error : (int64_t)(service_monotonic_ns() / NS_PER_TIMES_TICK);
}

/* What is left after a signal goes to `user`, unless that is 0. */
static int64_t sleep_for(uint64_t ns, uint64_t user)
{
    uint64_t left = ns ? service_sleep(ns) : 0;

    if (left && user && put_time(user, left) != 0)
        return -EFAULT;
    return left ? -EINTR : 0;
}

int64_t syscall_nanosleep(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns;
    int error = syscall_read_time(frame->rdi, &ns);

    (void)thread;
    if (error)
        return error;
    return sleep_for(ns, frame->rsi);
}

int64_t syscall_clock_nanosleep(struct thread *thread, struct trap_frame *frame)
{
    uint64_t now, ns;
    int error = read_clock(frame->rdi, &now);

    (void)thread;
    if (error || (int32_t)frame->rdi == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    error = syscall_read_time(frame->rdx, &ns);
    if (error)
        return error;
    if (!(frame->rsi & TIMER_ABSTIME))
        return sleep_for(ns, frame->r10);
    return sleep_for(ns > now ? ns - now : 0, 0);
}
