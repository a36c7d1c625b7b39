/* System calls for signals. */
#include <errno.h>
#include <signal.h>

#include "guest/base/syscall_handlers.h"
#include "guest/sample/stack_walk.h"
#include "guest/signal/signal.h"
#include "guest/signal/signal_frame.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define SET_BYTES 8u /* of a signal set; C libraries pass it */

/* The flags that an action may have: Linux drops the rest. */
#define ACTION_FLAGS                                                                   \
    (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | \
     SA_RESETHAND | ACTION_RESTORER | 0x800u /* SA_EXPOSE_TAGBITS */)

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
        action.flags &= ACTION_FLAGS;
        *current = action;
        if (action.flags & ACTION_RESTORER)
            stack_walk_add_restorer(action.restorer);
        if (action.handler == HANDLER_IGNORE ||
            (action.handler == HANDLER_DEFAULT && signal_default_ignores(signal)))
            signal_forget(thread->process, SIGNAL_BIT(signal)); /* it is no longer pending */
    }
    return 0;
}

static int change_mask(struct thread *thread, uint64_t how, uint64_t mask)
{
    switch (how) {
    case SIG_BLOCK:
        mask |= thread->signals.mask;
        break;
    case SIG_UNBLOCK:
        mask = thread->signals.mask & ~mask;
        break;
    case SIG_SETMASK:
        break;
    default:
        return -EINVAL;
    }
    signal_set_mask(thread, mask);
    return 0;
}

int64_t syscall_rt_sigprocmask(struct thread *thread, struct trap_frame *frame)
{
    uint64_t old = thread->signals.mask, mask;

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
    uint64_t pending = thread_signals_all(thread) & thread->signals.mask;

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
    thread->signals.saved_mask = thread->signals.mask;
    signal_set_mask(thread, mask);
    if (!signal_deliverable(thread))
        (void)wait_for(thread, WAIT_FOREVER, "sigsuspend");
    thread->after_call.restore_mask = true;
    return -EINTR;
}

int64_t syscall_rt_sigtimedwait(struct thread *thread, struct trap_frame *frame)
{
    uint64_t set, ns = WAIT_FOREVER;
    struct signal_info info;
    int error;

    if (frame->r10 != SET_BYTES)
        return -EINVAL;
    if (copy_from_user(&set, frame->rdi, sizeof set) != 0)
        return -EFAULT;
    error = frame->rdx ? uaccess_time(frame->rdx, &ns) : 0;
    if (error)
        return error;
    set = signal_mask_of(set);
    if (!signal_take(thread, set, &info)) {
        enum wait_end end;

        if (!ns)
            return -EAGAIN;
        thread->signals.wanted = set;
        end = wait_for(thread, ns, "sigwait");
        thread->signals.wanted = 0;
        if (!signal_take(thread, set, &info))
            return end == WAIT_TIMEOUT ? -EAGAIN : -EINTR;
    }
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

int64_t syscall_pause(struct thread *thread, struct trap_frame *)
{
    (void)wait_for(thread, WAIT_FOREVER, "pause");
    return -EINTR;
}
