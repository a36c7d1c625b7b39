/* System calls about the program's own timers. */
#include <errno.h>
#include <linux/time.h>
#include <signal.h>

#include "guest/base/syscall_handlers.h"
#include "guest/signal/program_timer.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

#define NS_PER_US 1000ull

struct event { /* struct sigevent, as far as the kernel reads it */
    uint64_t value;
    int32_t signal;
    int32_t notify;
    uint32_t tid;
};

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
    if (clock->kind == CLOCKS_THREAD && !clock->id)
        clock->id = thread->tid;
    if (clock->kind == CLOCKS_PROCESS && !clock->id)
        clock->id = thread->process->pid;
    return 0;
}

static int choose_event(uint64_t user, struct program_timer *t)
{
    const struct thread *target;
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
        target = threads_find(event.tid);
        if (target == NULL || target->process != t->process)
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
    t = program_timer_new(thread->process);
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

int64_t syscall_timer_settime(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_find(thread->process, (uint32_t)frame->rdi);
    struct program_timer_setting new, old;
    int error;

    if (!frame->rdx)
        return -EINVAL;
    error = program_timer_read(frame->rdx, 1, &new);
    if (error)
        return error;
    if (t == NULL)
        return -EINVAL;
    program_timer_get(t, &old);
    program_timer_set(t, &new, frame->rsi & TIMER_ABSTIME);
    return frame->r10 ? program_timer_write(frame->r10, 1, &old) : 0;
}

int64_t syscall_timer_gettime(struct thread *thread, struct trap_frame *frame)
{
    const struct program_timer *t = program_timer_find(thread->process, (uint32_t)frame->rdi);
    struct program_timer_setting setting;

    if (t == NULL)
        return -EINVAL;
    program_timer_get(t, &setting);
    return program_timer_write(frame->rsi, 1, &setting);
}

int64_t syscall_timer_getoverrun(struct thread *thread, struct trap_frame *frame)
{
    const struct program_timer *t = program_timer_find(thread->process, (uint32_t)frame->rdi);

    return t != NULL ? (int64_t)t->overrun_last : -EINVAL;
}

int64_t syscall_timer_delete(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_find(thread->process, (uint32_t)frame->rdi);

    if (t == NULL)
        return -EINVAL;
    program_timer_delete(t);
    return 0;
}

/* ---- setitimer and alarm ---- */

int64_t syscall_getitimer(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer_setting setting;
    const struct program_timer *t;

    if ((uint32_t)frame->rdi >= ITIMERS)
        return -EINVAL;
    t = program_timer_interval(thread->process, (uint32_t)frame->rdi);
    if (t == NULL)
        return -ENOMEM;
    program_timer_get(t, &setting);
    return program_timer_write(frame->rsi, NS_PER_US, &setting);
}

int64_t syscall_setitimer(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer_setting new = {0}, old;
    int error = frame->rsi ? program_timer_read(frame->rsi, NS_PER_US, &new) : 0;
    struct program_timer *t;

    if (error)
        return error;
    if ((uint32_t)frame->rdi >= ITIMERS)
        return -EINVAL;
    t = program_timer_interval(thread->process, (uint32_t)frame->rdi);
    if (t == NULL)
        return -ENOMEM;
    program_timer_get(t, &old);
    program_timer_set(t, &new, false);
    return frame->rdx ? program_timer_write(frame->rdx, NS_PER_US, &old) : 0;
}

/* Returns the seconds that were left, rounded, but never to 0. */
int64_t syscall_alarm(struct thread *thread, struct trap_frame *frame)
{
    struct program_timer *t = program_timer_interval(thread->process, ITIMER_REAL);
    const struct program_timer_setting new = {.value = (uint32_t)frame->rdi * NS_PER_SECOND};
    struct program_timer_setting old;

    if (t == NULL)
        return 0;
    program_timer_get(t, &old);
    program_timer_set(t, &new, false);
    if (old.value && old.value < NS_PER_SECOND)
        return 1;
    return (int64_t)((old.value + NS_PER_SECOND / 2) / NS_PER_SECOND);
}
