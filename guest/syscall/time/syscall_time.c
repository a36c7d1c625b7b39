/* System calls about time. */
#include <errno.h>
#include <linux/timex.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/thread/clocks.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define NS_PER_TIMES_TICK 10000000ull /* AT_CLKTCK is 100 */

#define US_PER_SECOND 1000000ull
#define COARSE_NS 4000000 /* what Linux says with its usual tick */
#define USED_STEP_NS 20000ull /* between two looks at a clock of used time */

#define TIMEX_ERROR_MAX_US 16000000
#define TIMEX_TOLERANCE 32768000 /* 500 ppm, in 2^-16 ppm */
#define TIMEX_TICK_US 10000

static int64_t put_time(uint64_t user, uint64_t ns)
{
    const struct timespec t = {(int64_t)(ns / NS_PER_SECOND), (int64_t)(ns % NS_PER_SECOND)};

    return copy_to_user(user, &t, sizeof t);
}

static int read_clock(const struct thread *thread, uint64_t number, uint64_t *ns)
{
    const struct clocks clock = clocks_find((int32_t)number);

    return clocks_read(thread, &clock, ns);
}

int64_t syscall_clock_gettime(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns;
    int error = read_clock(thread, frame->rdi, &ns);

    return error ? error : put_time(frame->rsi, ns);
}

int64_t syscall_clock_getres(struct thread *, struct trap_frame *frame)
{
    const struct clocks clock = clocks_find((int32_t)frame->rdi);

    if (clock.kind == CLOCKS_NONE)
        return -EINVAL;
    return frame->rsi ? put_time(frame->rsi, clock.coarse ? COARSE_NS : 1) : 0;
}

/* The run determines the time: the program cannot set it. */
int64_t syscall_clock_settime(struct thread *, struct trap_frame *frame)
{
    const struct clocks clock = clocks_find((int32_t)frame->rdi);
    uint64_t ns;
    int error;

    if (clock.kind != CLOCKS_REALTIME || clock.read_only || clock.wakes ||
        (uint32_t)frame->rdi == CLOCK_TAI)
        return -EINVAL;
    error = uaccess_time(frame->rsi, &ns);
    return error ? error : -EPERM;
}

int64_t syscall_settimeofday(struct thread *, struct trap_frame *frame)
{
    struct timeval t;
    int32_t zone[2];

    if (frame->rdi && copy_from_user(&t, frame->rdi, sizeof t) != 0)
        return -EFAULT;
    if (frame->rdi && (t.tv_usec < 0 || t.tv_usec > (int64_t)US_PER_SECOND))
        return -EINVAL;
    if (frame->rsi && copy_from_user(zone, frame->rsi, sizeof zone) != 0)
        return -EFAULT;
    return -EPERM;
}

/* Describes a clock that is never corrected; TIME_ERROR, as before the first
 * correction. */
static int64_t time_adjust(uint64_t user)
{
    struct __kernel_timex t;
    uint64_t ns = clock_realtime_ns();
    int error;

    if (copy_from_user(&t, user, sizeof t) != 0)
        return -EFAULT;
    if (t.modes)
        return -EPERM;
    memset(&t, 0, sizeof t);
    t.maxerror = t.esterror = TIMEX_ERROR_MAX_US;
    t.status = STA_UNSYNC;
    t.constant = 2;
    t.precision = 1;
    t.tolerance = TIMEX_TOLERANCE;
    t.time.tv_sec = (int64_t)(ns / NS_PER_SECOND);
    t.time.tv_usec = (int64_t)(ns % NS_PER_SECOND / 1000);
    t.tick = TIMEX_TICK_US;
    error = copy_to_user(user, &t, sizeof t);
    return error ? error : TIME_ERROR;
}

int64_t syscall_adjtimex(struct thread *, struct trap_frame *frame)
{
    return time_adjust(frame->rdi);
}

int64_t syscall_clock_adjtime(struct thread *, struct trap_frame *frame)
{
    const struct clocks clock = clocks_find((int32_t)frame->rdi);

    if (clock.kind == CLOCKS_NONE)
        return -EINVAL;
    return (uint32_t)frame->rdi == CLOCK_REALTIME ? time_adjust(frame->rsi) : -EOPNOTSUPP;
}

int64_t syscall_gettimeofday(struct thread *, struct trap_frame *frame)
{
    const int32_t zone[2] = {0, 0};
    uint64_t ns = clock_realtime_ns();
    const struct timeval t = {(int64_t)(ns / NS_PER_SECOND), (int64_t)(ns % NS_PER_SECOND / 1000)};
    int error = 0;

    if (frame->rdi)
        error = copy_to_user(frame->rdi, &t, sizeof t);
    if (!error && frame->rsi)
        error = copy_to_user(frame->rsi, zone, sizeof zone);
    return error;
}

int64_t syscall_time(struct thread *, struct trap_frame *frame)
{
    int64_t seconds = (int64_t)(clock_realtime_ns() / NS_PER_SECOND);
    int error = 0;

    if (frame->rdi)
        error = copy_to_user(frame->rdi, &seconds, sizeof seconds);
    return error ? error : seconds;
}

/* Splits processor time into user and system time, in the units of times(). */
static void put_ticks(uint64_t all, uint64_t user, int64_t out[2])
{
    all = run_ticks_to_ns(all);
    user = run_ticks_to_ns(user);
    out[0] = (int64_t)(user / NS_PER_TIMES_TICK);
    out[1] = (int64_t)((all > user ? all - user : 0) / NS_PER_TIMES_TICK);
}

int64_t syscall_times(struct thread *thread, struct trap_frame *frame)
{
    const struct process *process = thread->process;
    const struct process_use *children = &process->children_use;
    int64_t ticks[4];
    int error = 0;

    put_ticks(schedule_process_ticks(process), schedule_process_user_ticks(process), ticks);
    put_ticks(children->used_ticks, children->use.user_ticks, ticks + 2);
    if (frame->rdi)
        error = copy_to_user(frame->rdi, ticks, sizeof ticks);
    return error ? error : (int64_t)(clock_monotonic_ns() / NS_PER_TIMES_TICK);
}

/* Sleeps; after a signal stores what is left at `user`, unless that is 0. */
static int64_t sleep_for(uint64_t ns, uint64_t user)
{
    uint64_t left = ns ? clocks_sleep(ns) : 0;

    if (left && user && put_time(user, left) != 0)
        return -EFAULT;
    return left ? -EINTR : 0;
}

int64_t syscall_nanosleep(struct thread *, struct trap_frame *frame)
{
    uint64_t ns;
    int error = uaccess_time(frame->rdi, &ns);

    if (error)
        return error;
    return sleep_for(ns, frame->rsi);
}

/* Sleeps until other threads have used that time; the sleeper uses none. */
static int64_t sleep_used(struct thread *thread, const struct clocks *clock, uint64_t until)
{
    uint64_t now;

    while (clocks_read(thread, clock, &now) == 0 && now < until) {
        uint64_t ns = threads_count() > 1 ? (until - now) / (threads_count() - 1) : WAIT_FOREVER;

        if (ns < USED_STEP_NS)
            ns = USED_STEP_NS;
        if (wait_for(thread, ns, "clock_nanosleep") == WAIT_SIGNAL)
            return -EINTR;
    }
    return 0;
}

int64_t syscall_clock_nanosleep(struct thread *thread, struct trap_frame *frame)
{
    const struct clocks clock = clocks_find((int32_t)frame->rdi);
    uint64_t now, ns;
    int error = clocks_read(thread, &clock, &now);
    bool absolute = frame->rsi & TIMER_ABSTIME;

    if (error || clock.kind == CLOCKS_THREAD)
        return -EINVAL;
    if (clock.read_only)
        return -EOPNOTSUPP;
    if (clock.wakes)
        return -EPERM;
    error = uaccess_time(frame->rdx, &ns);
    if (error)
        return error;
    if (clock.kind == CLOCKS_PROCESS) {
        if (!absolute && __builtin_add_overflow(now, ns, &ns))
            ns = UINT64_MAX;
        return sleep_used(thread, &clock, ns);
    }
    if (!absolute)
        return sleep_for(ns, frame->r10);
    return sleep_for(ns > now ? ns - now : 0, 0);
}
