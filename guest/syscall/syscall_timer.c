/* System calls about the program's own timers. */
#include <errno.h>
#include <linux/time.h>
#include <signal.h>

#include "guest/base/syscall_handlers.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/program_timer_math.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_US 1000ull
#define ITIMERS 3u

struct event { /* struct sigevent, as far as the kernel reads it */
    uint64_t value;
    int32_t signal;
    int32_t notify;
    uint32_t tid;
};

struct spec { /* struct itimerspec, struct itimerval: interval, then value */
    struct {
        int64_t seconds;
        int64_t part;
    } interval, value;
};

/* Returns nanoseconds; `part` is in units of unit_ns.  Saturates. */
static uint64_t to_ns(int64_t seconds, int64_t part, uint64_t unit_ns)
{
    uint64_t ns;

    if (__builtin_mul_overflow((uint64_t)seconds, NS_PER_SECOND, &ns) ||
        __builtin_add_overflow(ns, (uint64_t)part * unit_ns, &ns) || ns > PROGRAM_TIMER_NS_MAX)
        return PROGRAM_TIMER_NS_MAX;
    return ns;
}

static int read_setting(uint64_t user, uint64_t unit_ns, struct program_timer_setting *setting)
{
    const int64_t units = (int64_t)(NS_PER_SECOND / unit_ns);
    struct spec s;

    if (copy_from_user(&s, user, sizeof s) != 0)
        return -EFAULT;
    if (s.interval.seconds < 0 || s.interval.part < 0 || s.interval.part >= units ||
        s.value.seconds < 0 || s.value.part < 0 || s.value.part >= units)
        return -EINVAL;
    setting->interval = to_ns(s.interval.seconds, s.interval.part, unit_ns);
    setting->value = to_ns(s.value.seconds, s.value.part, unit_ns);
    return 0;
}

/* Writes a setting; a time that is not over yet never reads 0. */
static int64_t write_setting(uint64_t user, uint64_t unit_ns,
                             const struct program_timer_setting *setting)
{
    uint64_t value = setting->value;
    struct spec s;

    if (value && value < unit_ns)
        value = unit_ns;
    s = (struct spec){
        .interval = {(int64_t)(setting->interval / NS_PER_SECOND),
                     (int64_t)(setting->interval % NS_PER_SECOND / unit_ns)},
        .value = {(int64_t)(value / NS_PER_SECOND), (int64_t)(value % NS_PER_SECOND / unit_ns)},
    };
    return copy_to_user(user, &s, sizeof s);
}

/* ---- timer_create and its like ---- */

static int choose_clock(const struct thread *thread, int32_t number, struct clocks *clock)
{
    *clock = clocks_find(number);
    if (clock->kind == CLOCKS_NONE)
        return -EINVAL;
    if (clock->read_only)
        return -EOPNOTSUPP;
    if (clock->wakes)
        return -EPERM;
    if (clock->kind == CLOCKS_THREAD && !clock->tid)
        clock->tid = thread->tid;
    return 0;
}

static int choose_event(uint64_t user, struct program_timer *t)
{
    struct event event = {.value = t->id, .signal = SIGALRM, .notify = SIGEV_SIGNAL};

    if (user && copy_from_user(&event, user, sizeof event) != 0)
        return -EFAULT;
    t->value = event.value;
    t->signal = (uint32_t)event.signal;
    switch (event.notify) {
    case SIGEV_NONE:
        t->notify = PROGRAM_TIMER_SILENT;
        return 0;
    case SIGEV_THREAD_ID:
        if (threads_find(event.tid) == NULL)
            return -EINVAL;
        t->notify = PROGRAM_TIMER_THREAD;
        t->tid = event.tid;
        break;
    case SIGEV_SIGNAL:
    case SIGEV_THREAD:
        t->notify = PROGRAM_TIMER_PROCESS;
        break;
    default:
        return -EINVAL;
    }
    return event.signal >= 1 && event.signal <= SIGNALS ? 0 : -EINVAL;
}

int64_t syscall_timer_create(struct thread *thread, struct trap_frame *frame)
{
    struct clocks clock;
    int error = choose_clock(thread, (int32_t)frame->rdi, &clock);
    struct program_timer *t;

    if (error)
        return error;
    t = program_timer_new();
    if (t == NULL)
        return -EAGAIN;
    t->clock = clock;
    error = choose_event(frame->rsi, t);
    if (!error)
        error = copy_to_user(frame->rdx, &t->id, sizeof t->id);
    if (error)
        program_timer_delete(t);
    return error;
}

int64_t syscall_timer_settime(struct thread *, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_find((uint32_t)frame->rdi);
    struct program_timer_setting new, old;
    int error;

    if (!frame->rdx)
        return -EINVAL;
    error = read_setting(frame->rdx, 1, &new);
    if (error)
        return error;
    if (t == NULL)
        return -EINVAL;
    program_timer_get(t, &old);
    program_timer_set(t, &new, frame->rsi & TIMER_ABSTIME);
    return frame->r10 ? write_setting(frame->r10, 1, &old) : 0;
}

int64_t syscall_timer_gettime(struct thread *, struct trap_frame *frame)
{
    const struct program_timer *t = program_timer_find((uint32_t)frame->rdi);
    struct program_timer_setting setting;

    if (t == NULL)
        return -EINVAL;
    program_timer_get(t, &setting);
    return write_setting(frame->rsi, 1, &setting);
}

int64_t syscall_timer_getoverrun(struct thread *, struct trap_frame *frame)
{
    const struct program_timer *t = program_timer_find((uint32_t)frame->rdi);

    return t != NULL ? (int64_t)t->overrun_last : -EINVAL;
}

int64_t syscall_timer_delete(struct thread *, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_find((uint32_t)frame->rdi);

    if (t == NULL)
        return -EINVAL;
    program_timer_delete(t);
    return 0;
}

/* ---- setitimer and alarm ---- */

int64_t syscall_getitimer(struct thread *, struct trap_frame *frame)
{
    struct program_timer_setting setting;

    if ((uint32_t)frame->rdi >= ITIMERS)
        return -EINVAL;
    program_timer_get(program_timer_interval((uint32_t)frame->rdi), &setting);
    return write_setting(frame->rsi, NS_PER_US, &setting);
}

int64_t syscall_setitimer(struct thread *, struct trap_frame *frame)
{
    struct program_timer_setting new = {0}, old;
    int error = frame->rsi ? read_setting(frame->rsi, NS_PER_US, &new) : 0;
    struct program_timer *t;

    if (error)
        return error;
    if ((uint32_t)frame->rdi >= ITIMERS)
        return -EINVAL;
    t = program_timer_interval((uint32_t)frame->rdi);
    program_timer_get(t, &old);
    program_timer_set(t, &new, false);
    return frame->rdx ? write_setting(frame->rdx, NS_PER_US, &old) : 0;
}

/* Returns the seconds that were left, rounded, but never to 0. */
int64_t syscall_alarm(struct thread *, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_interval(ITIMER_REAL);
    const struct program_timer_setting new = {.value = (uint32_t)frame->rdi * NS_PER_SECOND};
    struct program_timer_setting old;

    program_timer_get(t, &old);
    program_timer_set(t, &new, false);
    if (old.value && old.value < NS_PER_SECOND)
        return 1;
    return (int64_t)((old.value + NS_PER_SECOND / 2) / NS_PER_SECOND);
}
