/* ioctl: what it can do with any file, and with a terminal. */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/fcntl.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

/* A terminal in its usual state: 38400 baud, echo, line editing. */
static int64_t get_terminal(uint64_t user)
{
    const struct termios state = {.c_iflag = ICRNL | IXON,
                                  .c_oflag = OPOST | ONLCR,
                                  .c_cflag = B38400 | CS8 | CREAD,
                                  .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN,
                                  .c_cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};

    return copy_to_user(user, &state, sizeof state);
}

static int64_t get_window(const struct process *process, uint64_t user)
{
    uint64_t rows = 24, columns = 80;
    uint16_t size[4] = {0};

    (void)manifest_number(&process->manifest, "rows", &rows);
    (void)manifest_number(&process->manifest, "columns", &columns);
    size[0] = (uint16_t)rows;
    size[1] = (uint16_t)columns;
    return copy_to_user(user, size, sizeof size);
}

static int64_t terminal_control(const struct thread *thread, uint32_t request, uint64_t user)
{
    int32_t group = (int32_t)thread->process->pid;

    switch (request) {
    case TCGETS:
        return get_terminal(user);
    case TIOCGWINSZ:
        return get_window(thread->process, user);
    case TIOCGPGRP:
        return copy_to_user(user, &group, sizeof group);
    case TCSETS: /* the terminal stays as the command's caller has set it */
    case TCSETSW:
    case TCSETSF:
    case TIOCSPGRP:
        return 0;
    default:
        return -ENOTTY;
    }
}

int64_t syscall_ioctl(struct thread *thread, struct trap_frame *frame)
{
    int32_t fd = (int32_t)frame->rdi;
    const struct file *file = files_get(thread->process, fd);
    int32_t available = 0;

    if (!file || (file->flags & O_PATH))
        return -EBADF;
    switch ((uint32_t)frame->rsi) {
    case FIOCLEX:
    case FIONCLEX:
        files_set_close_on_exec(thread->process, fd, (uint32_t)frame->rsi == FIOCLEX);
        return 0;
    case FIONBIO:
        return 0;
    case FIONREAD:
        if (file->type == &file_output || file->type == &file_directory)
            return -ENOTTY;
        if (file->bytes > file->offset)
            available = file->bytes - file->offset > INT32_MAX
                            ? INT32_MAX
                            : (int32_t)(file->bytes - file->offset);
        return copy_to_user(frame->rdx, &available, sizeof available);
    default:
        if (!files_is_terminal(thread->process, file))
            return -ENOTTY;
        return terminal_control(thread, (uint32_t)frame->rsi, frame->rdx);
    }
}
