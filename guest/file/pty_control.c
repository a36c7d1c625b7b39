/* ioctl of pseudo terminals. */
#include <asm/ioctls.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/file/pty.h"
#include "guest/file/terminal.h"
#include "guest/signal/signal.h"
#include "guest/vm/uaccess.h"

/* What TCFLSH's argument drops, what TCXONC's does. */
enum { FLUSH_IN, FLUSH_OUT, FLUSH_BOTH };
enum { FLOW_OFF, FLOW_ON };

static int64_t put_number(uint64_t user, uint32_t number)
{
    return copy_to_user(user, &number, sizeof number);
}

static int64_t set_settings(struct pty *pty, uint32_t request, uint64_t user)
{
    struct termios settings;

    if (copy_from_user(&settings, user, sizeof settings) != 0)
        return -EFAULT;
    pty_line_set(&pty->line, &settings, request == TCSETSF);
    pty_changed(pty);
    return 0;
}

static int64_t set_window(struct pty *pty, uint64_t user)
{
    uint16_t window[4];

    if (copy_from_user(window, user, sizeof window) != 0)
        return -EFAULT;
    if (memcmp(window, pty->window, sizeof window) != 0)
        signal_send_group(pty->foreground, SIGWINCH);
    memcpy(pty->window, window, sizeof window);
    return 0;
}

static int64_t flush(struct pty *pty, uint64_t what)
{
    if (what > FLUSH_BOTH)
        return -EINVAL;
    if (what != FLUSH_OUT) /* who holds the master has what was written */
        pty_line_flush(&pty->line);
    pty_changed(pty);
    return 0;
}

static int64_t set_flow(struct pty *pty, uint64_t what)
{
    if (what <= FLOW_ON)
        pty->line.stopped = what == FLOW_OFF;
    pty_changed(pty);
    return what < 4 ? 0 : -EINVAL;
}

/* ---- sessions ---- */

static bool is_own(const struct thread *thread, const struct pty *pty)
{
    return pty->session && pty->session == thread->process->session;
}

static int64_t take_terminal(const struct thread *thread, struct pty *pty)
{
    const struct process *process = thread->process;

    if (process->session == process->pid && pty->session == process->session)
        return 0;
    return pty_take(pty, process) ? 0 : -EPERM;
}

/* As Linux, but a process that leads no session cannot leave its terminal alone. */
static int64_t give_terminal_up(const struct thread *thread, const struct pty *pty)
{
    if (!is_own(thread, pty))
        return -ENOTTY;
    if (thread->process->pid != pty->session)
        return -EPERM;
    pty_session_ends(pty->session, true);
    return 0;
}

static int64_t control_session(const struct thread *thread, struct pty *pty, bool master,
                               uint32_t request, uint64_t user)
{
    uint32_t group;
    int64_t error;

    switch (request) {
    case TIOCSCTTY:
        return take_terminal(thread, pty);
    case TIOCNOTTY:
        return give_terminal_up(thread, pty);
    case TIOCGPGRP:
        return master || is_own(thread, pty) ? put_number(user, pty->foreground) : -ENOTTY;
    case TIOCGSID:
        return pty->session && (master || is_own(thread, pty)) ? put_number(user, pty->session)
                                                               : -ENOTTY;
    default:
        if (!is_own(thread, pty))
            return -ENOTTY;
        error = terminal_read_group(thread, pty->foreground, user, &group);
        if (!error)
            pty->foreground = group;
        return error;
    }
}

/* ---- both ends ---- */

static int64_t control_master(struct pty *pty, uint32_t request, uint64_t user)
{
    int32_t lock;

    switch (request) {
    case TIOCGPTN:
        return put_number(user, pty->number);
    case TIOCGPTLCK:
        return put_number(user, pty->locked);
    case TIOCSPTLCK:
        if (copy_from_user(&lock, user, sizeof lock) != 0)
            return -EFAULT;
        pty->locked = lock;
        return 0;
    case FIONREAD:
        return put_number(user, pty->line.out.used);
    default:
        return -ENOTTY;
    }
}

static int64_t control_line(struct pty *pty, bool master, uint32_t request, uint64_t argument)
{
    switch (request) {
    case TCGETS:
        return copy_to_user(argument, &pty->line.settings, sizeof pty->line.settings);
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return set_settings(pty, request, argument);
    case TIOCGWINSZ:
        return copy_to_user(argument, pty->window, sizeof pty->window);
    case TIOCSWINSZ:
        return set_window(pty, argument);
    case TCFLSH:
        return flush(pty, argument);
    case TCXONC:
        return set_flow(pty, argument);
    case TIOCOUTQ: /* who holds the master has what was written */
    case TIOCGETD:
        return put_number(argument, 0);
    case TCSBRK:
    case TCSBRKP:
    case TIOCEXCL:
    case TIOCNXCL:
        return 0;
    case FIONREAD:
        if (!master)
            return put_number(argument, pty_line_ready(&pty->line));
        return control_master(pty, request, argument);
    default:
        return master ? control_master(pty, request, argument) : -ENOTTY;
    }
}

int64_t pty_control(struct thread *thread, struct file *file, uint32_t request, uint64_t argument)
{
    struct pty *pty = file->state;
    bool master = file->type == &pty_file_master;
    int64_t error = 0;

    context_assert_thread();
    if (!master && pty->hung_up)
        return request == TIOCSPGRP ? -ENOTTY : -EIO;
    switch (request) {
    case TIOCSCTTY:
    case TIOCNOTTY:
    case TIOCGPGRP:
    case TIOCSPGRP:
    case TIOCGSID:
        return control_session(thread, pty, master, request, argument);
    default:
        if (!master && terminal_changes(request) && is_own(thread, pty))
            error = terminal_check(thread, pty->foreground, SIGTTOU);
        return error ? error : control_line(pty, master, request, argument);
    }
}
