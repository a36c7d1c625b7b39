/* The table of system calls, and how one is made. */
#include "guest/syscall.h"

#include <asm/unistd_64.h>
#include <errno.h>

#include "guest/refused.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"

#define SYSCALL(name, handler, support, note) [__NR_##name] = syscall_##handler,
static int64_t (*const handlers[])(struct thread *thread, struct trap_frame *frame) = {
#include "guest/syscall_table.h"
};
#undef SYSCALL

#define HANDLERS (sizeof handlers / sizeof handlers[0])

int64_t syscall_unknown(uint64_t number)
{
    refused_count(number, REFUSED_CALL);
    return -ENOSYS;
}

void syscall_dispatch(struct thread *thread, struct trap_frame *frame)
{
    uint64_t number = frame->rax;
    int64_t result;

    if (number < HANDLERS && handlers[number])
        result = handlers[number](thread, frame);
    else
        result = syscall_unknown(number);
    frame->rax = (uint64_t)result;
    if (result == -EINTR && number != __NR_rt_sigreturn)
        thread->interrupted = number + 1;
    else
        thread->restart_until = 0;
    if (signal_pending(thread) || thread->signal_restore_mask || thread->interrupted)
        signal_deliver(thread, frame);
}
