/* System calls for signals. */
#include <errno.h>
#include <signal.h>

#include "guest/signal.h"
#include "guest/signal_frame.h"
#include "guest/syscall_handlers.h"
#include "guest/threads.h"
#include "guest/uaccess.h"
#include "guest/wait.h"

#define HANDLER_IGNORE 1u
#define SET_BYTES 8u /* of a signal set, as the program's C library must say */

static void forget_in(struct thread *thread, void *signal)
{
    thread->signal_pending &= ~SIGNAL_BIT(*(const uint32_t *)signal);
}

/* What is ignored from now on is not pending any more. */
static void forget(struct thread *thread, uint32_t signal)
{
    thread->process->signal_pending &= ~SIGNAL_BIT(signal);
    threads_each(forget_in, &signal);
}

int64_t syscall_rt_sigaction(struct thread *thread, struct trap_frame *frame)
{
    uint32_t signal = (uint32_t)frame->rdi;
    struct signal_action action, *current;

    if (frame->r10 != SET_BYTES || signal < 1 || signal > SIGNALS)
        return -EINVAL;
    if (frame->rsi) {
        if (signal == SIGKILL || signal == SIGSTOP)
            return -EINVAL;
        if (copy_from_user(&action, frame->rsi, sizeof action) != 0)
            return -EFAULT;
    }
    current = &thread->process->actions[signal];
    if (frame->rdx && copy_to_user(frame->rdx, current, sizeof *current) != 0)
        return -EFAULT;
    if (frame->rsi) {
        action.mask = signal_mask_of(action.mask);
        *current = action;
        if (action.handler == HANDLER_IGNORE)
            forget(thread, signal);
    }
    return 0;
}

static int change_mask(struct thread *thread, uint64_t how, uint64_t mask)
{
    switch (how) {
    case SIG_BLOCK:
        mask |= thread->signal_mask;
        break;
    case SIG_UNBLOCK:
        mask = thread->signal_mask & ~mask;
        break;
    case SIG_SETMASK:
        break;
    default:
        return -EINVAL;
    }
    thread->signal_mask = signal_mask_of(mask);
    return 0;
}

int64_t syscall_rt_sigprocmask(struct thread *thread, struct trap_frame *frame)
{
    uint64_t old = thread->signal_mask, mask;

    if (frame->r10 != SET_BYTES)
        return -EINVAL;
    if (frame->rsi) {
        int error = copy_from_user(&mask, frame->rsi, sizeof mask);

        if (!error)
            error = change_mask(thread, frame->rdi, mask);
        if (error)
            return error;
    }
    return frame->rdx ? copy_to_user(frame->rdx, &old, sizeof old) : 0;
}

int64_t syscall_rt_sigpending(struct thread *thread, struct trap_frame *frame)
{
    uint64_t pending = signal_pending(thread) & thread->signal_mask;

    if (frame->rsi > SET_BYTES)
        return -EINVAL;
    return copy_to_user(frame->rdi, &pending, frame->rsi);
}

int64_t syscall_rt_sigsuspend(struct thread *thread, struct trap_frame *frame)
{
    uint64_t mask;

    if (frame->rsi != SET_BYTES)
        return -EINVAL;
    if (copy_from_user(&mask, frame->rdi, sizeof mask) != 0)
        return -EFAULT;
    thread->signal_saved_mask = thread->signal_mask;
    thread->signal_mask = signal_mask_of(mask);
    if (!signal_deliverable(thread))
        (void)wait_for(thread, WAIT_FOREVER, "sigsuspend");
    thread->signal_restore_mask = true;
    return -EINTR;
}

int64_t syscall_rt_sigtimedwait(struct thread *thread, struct trap_frame *frame)
{
    struct signal_info info = {0};
    uint64_t set, ready, ns;
    int error;

    if (frame->r10 != SET_BYTES)
        return -EINVAL;
    if (copy_from_user(&set, frame->rdi, sizeof set) != 0)
        return -EFAULT;
    ready = signal_pending(thread) & set;
    if (!ready) {
        error = frame->rdx ? syscall_read_time(frame->rdx, &ns) : 0;
        if (error)
            return error;
        thread->signals_wanted = set;
        enum wait_end end = wait_for(thread, frame->rdx ? ns : WAIT_FOREVER, "sigwait");
        thread->signals_wanted = 0;
        ready = signal_pending(thread) & set;
        if (!ready)
            return end == WAIT_SIGNAL ? -EINTR : -EAGAIN;
    }
    info.signal = __builtin_ctzll(ready) + 1;
    info.code = signal_take(thread, (uint32_t)info.signal);
    info.u.sender.pid = thread->process->pid;
    info.u.sender.uid = PROCESS_USER_ID;
    if (frame->rsi && copy_to_user(frame->rsi, &info, sizeof info) != 0)
        return -EFAULT;
    return info.signal;
}

int64_t syscall_rt_sigreturn(struct thread *thread, struct trap_frame *frame)
{
    signal_return(thread, frame);
    return (int64_t)frame->rax;
}

int64_t syscall_sigaltstack(struct thread *thread, struct trap_frame *frame)
{
    struct signal_stack old, stack;
    int error = 0;

    signal_get_stack(thread, frame->rsp, &old);
    if (frame->rdi) {
        if (copy_from_user(&stack, frame->rdi, sizeof stack) != 0)
            return -EFAULT;
        error = signal_set_stack(thread, frame->rsp, &stack);
    }
    if (!error && frame->rsi)
        error = copy_to_user(frame->rsi, &old, sizeof old);
    return error;
}

static int64_t send(uint32_t tid, uint32_t signal)
{
    struct thread *target = threads_find(tid);

    if (signal > SIGNALS)
        return -EINVAL;
    if (!target)
        return -ESRCH;
    if (signal)
        signal_send(target, signal, SI_TKILL);
    return 0;
}

/* The program is alone: it is its own group, and everybody. */
int64_t syscall_kill(struct thread *thread, struct trap_frame *frame)
{
    int32_t target = (int32_t)frame->rdi, own = (int32_t)thread->process->pid;

    if (target != 0 && target != own && target != -own)
        return -ESRCH;
    if ((uint32_t)frame->rsi > SIGNALS)
        return -EINVAL;
    if (frame->rsi)
        signal_send_process(thread, (uint32_t)frame->rsi, SI_USER);
    return 0;
}

int64_t syscall_tkill(struct thread *thread, struct trap_frame *frame)
{
    (void)thread;
    if ((int32_t)frame->rdi <= 0)
        return -EINVAL;
    return send((uint32_t)frame->rdi, (uint32_t)frame->rsi);
}

int64_t syscall_tgkill(struct thread *thread, struct trap_frame *frame)
{
    if ((int32_t)frame->rdi <= 0 || (int32_t)frame->rsi <= 0)
        return -EINVAL;
    if ((uint32_t)frame->rdi != thread->process->pid)
        return -ESRCH;
    return send((uint32_t)frame->rsi, (uint32_t)frame->rdx);
}

int64_t syscall_pause(struct thread *thread, struct trap_frame *frame)
{
    (void)frame;
    (void)wait_for(thread, WAIT_FOREVER, "pause");
    return -EINTR;
}
