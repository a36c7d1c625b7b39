/* ioctl: what it can do with any file, and with a terminal. */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <signal.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/file/terminal.h"
#include "guest/vm/uaccess.h"

/* Describes a terminal in its usual state: 38400 baud, echo, line editing. */
static int64_t get_terminal(uint64_t user)
{
    const struct termios state = {.c_iflag = ICRNL | IXON,
                                  .c_oflag = OPOST | ONLCR,
                                  .c_cflag = B38400 | CS8 | CREAD,
                                  .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN,
                                  .c_cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};

    return copy_to_user(user, &state, sizeof state);
}

static int64_t get_window(uint64_t user)
{
    const uint16_t size[4] = {(uint16_t)run.rows, (uint16_t)run.columns};

    return copy_to_user(user, size, sizeof size);
}

static int64_t set_foreground(const struct thread *thread, uint64_t user)
{
    uint32_t group;
    int64_t error;

    if (thread->process->session != process_first.session)
        return -ENOTTY;
    error = terminal_read_group(thread, process_foreground, user, &group);
    if (!error)
        process_foreground = group;
    return error;
}

static int64_t get_session(const struct process *process, uint32_t id, uint64_t user)
{
    return process->session == process_first.session ? copy_to_user(user, &id, sizeof id) : -ENOTTY;
}

/* What would change the terminal: it stays as the command's caller has set it. */
static int64_t change_terminal(const struct thread *thread)
{
    if (thread->process->session != process_first.session)
        return 0;
    return terminal_check(thread, process_foreground, SIGTTOU);
}

static int64_t terminal_control(const struct thread *thread, uint32_t request, uint64_t user)
{
    int32_t nothing = 0;

    switch (request) {
    case TCGETS:
        return get_terminal(user);
    case TIOCGWINSZ:
        return get_window(user);
    case TIOCGPGRP:
        return get_session(thread->process, process_foreground, user);
    case TIOCGSID:
        return get_session(thread->process, process_first.session, user);
    case TIOCSPGRP:
        return set_foreground(thread, user);
    case TIOCSCTTY:
        return thread->process->session == process_first.session ? 0 : -EPERM;
    case TIOCOUTQ:
        return copy_to_user(user, &nothing, sizeof nothing);
    case TIOCSWINSZ:
    case TIOCEXCL:
    case TIOCNXCL:
        return 0;
    default:
        return terminal_changes(request) ? change_terminal(thread) : -ENOTTY;
    }
}

static int64_t set_blocking(struct file *file, uint64_t user)
{
    int32_t on;

    if (copy_from_user(&on, user, sizeof on) != 0)
        return -EFAULT;
    file->flags = on ? file->flags | O_NONBLOCK : file->flags & ~(uint32_t)O_NONBLOCK;
    return 0;
}

/* Stores how much of a regular file is left; that of stdin is unknown. */
static int64_t put_available(const struct file *file, uint64_t user)
{
    uint64_t size = files_size(file), left = size > file->offset ? size - file->offset : 0;
    int32_t available = left > INT32_MAX ? INT32_MAX : (int32_t)left;

    return copy_to_user(user, &available, sizeof available);
}

int64_t syscall_ioctl(struct thread *thread, struct trap_frame *frame)
{
    int32_t fd = (int32_t)frame->rdi;
    struct file *file = files_get(thread->process, fd);
    uint32_t request = (uint32_t)frame->rsi;

    if (file == NULL || (file->flags & O_PATH))
        return -EBADF;
    switch (request) {
    case FIOCLEX:
    case FIONCLEX:
        files_set_close_on_exec(thread->process, fd, request == FIOCLEX);
        return 0;
    case FIONBIO:
        return set_blocking(file, frame->rdx);
    default:
        if (file->type->ioctl != NULL)
            return file->type->ioctl(thread, file, request, frame->rdx);
        if (request == FIONREAD && (file->type == &file_regular || file->type == &file_input ||
                                    file->type == &file_terminal))
            return put_available(file, frame->rdx);
        if (!files_is_terminal(thread->process, file))
            return -ENOTTY;
        return terminal_control(thread, request, frame->rdx);
    }
}
