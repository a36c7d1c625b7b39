/* Sessions and their terminals. */
#include "guest/file/terminal.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <signal.h>

#include "guest/base/context.h"
#include "guest/base/run.h"
#include "guest/file/pty.h"
#include "guest/signal/signal.h"
#include "guest/vm/uaccess.h"

#define COMMAND_DEVICE (136u << 8)

bool terminal_is_command(const struct process *process)
{
    return run.terminals && process->session == process_first.session;
}

uint32_t terminal_device(const struct process *process, uint32_t *foreground)
{
    const struct pty *pty = pty_of_session(process->session);

    *foreground = pty != NULL ? pty->foreground : process_foreground;
    if (pty != NULL)
        return COMMAND_DEVICE | pty->number;
    return terminal_is_command(process) ? COMMAND_DEVICE : 0;
}

/* Returns true if the thread would not notice the signal. */
static bool is_ignored(const struct thread *thread, uint32_t signal)
{
    return thread->signals.mask & SIGNAL_BIT(signal) || signal_ignored(thread, signal);
}

bool terminal_changes(uint32_t request)
{
    switch (request) {
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
    case TCSBRK:
    case TCSBRKP:
    case TCXONC:
    case TCFLSH:
        return true;
    default:
        return false;
    }
}

int64_t terminal_check(const struct thread *thread, uint32_t foreground, uint32_t signal)
{
    uint32_t group = thread->process->group;

    context_assert_thread();
    if (!foreground || group == foreground)
        return 0;
    if (is_ignored(thread, signal))
        return signal == SIGTTIN ? -EIO : 0;
    if (process_group_orphaned(group))
        return -EIO;
    signal_send_group(group, signal);
    return -EINTR;
}

int64_t terminal_read_group(const struct thread *thread, uint32_t foreground, uint64_t user,
                            uint32_t *group)
{
    int64_t error = terminal_check(thread, foreground, SIGTTOU);
    int32_t given;

    if (error)
        return error;
    if (copy_from_user(&given, user, sizeof given) != 0)
        return -EFAULT;
    if (given < 0)
        return -EINVAL;
    if (!process_uses_id((uint32_t)given))
        return -ESRCH;
    if (!process_has_group((uint32_t)given, thread->process->session))
        return -EPERM;
    *group = (uint32_t)given;
    return 0;
}
