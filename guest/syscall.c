/* The table of system calls, and how one is made. */
#include "guest/syscall.h"

#include <asm/unistd_64.h>
#include <errno.h>

#include "guest/log.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"
#include "guest/syscall_names.h"

#define SYSCALL(name, handler, support, note) [__NR_##name] = syscall_##handler,
static int64_t (*const handlers[])(struct thread *thread, struct trap_frame *frame) = {
#include "guest/syscall_table.h"
};
#undef SYSCALL

#define HANDLERS (sizeof handlers / sizeof handlers[0])
#define REPORTS 1024u

static uint64_t reported[REPORTS / 64];

int64_t syscall_unknown(uint64_t number)
{
    uint64_t slot = number < REPORTS ? number : REPORTS - 1;

    if (!(reported[slot / 64] >> slot % 64 & 1)) {
        const char *name = syscall_name(number);

        reported[slot / 64] |= 1ull << slot % 64;
        log_notice("system call %lu (%s) is not supported; the program gets ENOSYS", number,
                   name ? name : "no such call in Linux 6.1");
    }
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
    if (signal_pending(thread) || thread->signal_restore_mask)
        signal_deliver(thread, frame);
}
