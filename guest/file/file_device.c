/* The devices of /dev. */
#include <errno.h>
#include <sys/stat.h>

#include "guest/file/file_device.h"
#include "guest/file/pty.h"
#include "guest/file/terminal.h"
#include "guest/thread/process.h"
#include "guest/vm/uaccess.h"

static int64_t read_nothing(struct thread *, struct file *, uint64_t /* offset */,
                            uint64_t /* user */, uint64_t /* bytes */)
{
    return 0;
}

static int64_t read_zeros(struct thread *, struct file *, uint64_t /* offset */, uint64_t user,
                          uint64_t bytes)
{
    int error = uaccess_zero(user, bytes);

    return error ? error : (int64_t)bytes;
}

static int64_t read_random(struct thread *, struct file *, uint64_t /* offset */, uint64_t user,
                           uint64_t bytes)
{
    return uaccess_random(user, bytes);
}

static int64_t write_nowhere(struct thread *, struct file *, uint64_t /* offset */,
                             uint64_t /* user */, uint64_t bytes)
{
    return (int64_t)bytes;
}

static int64_t write_full(struct thread *, struct file *, uint64_t /* offset */,
                          uint64_t /* user */, uint64_t bytes)
{
    return bytes ? -ENOSPC : 0;
}

#define DEVICE(number) .mode = S_IFCHR | 0666, .device = 1 << 8 | (number), .seekable = true

const struct file_type file_device_null = {DEVICE(3), .read = read_nothing, .write = write_nowhere};
const struct file_type file_device_zero = {DEVICE(5), .read = read_zeros, .write = write_nowhere};
const struct file_type file_device_full = {DEVICE(7), .read = read_zeros, .write = write_full};
const struct file_type file_device_random = {DEVICE(9), .read = read_random,
                                             .write = write_nowhere};

static int open_command(struct thread *, struct file *file)
{
    if (!terminal_is_command(&process_first))
        return -ENXIO;
    file->type = &file_terminal;
    file->stream = 1;
    return 0;
}

/* Opens the terminal of the caller's session, if it has one. */
static int open_terminal(struct thread *thread, struct file *file)
{
    struct pty *pty = pty_of_session(thread->process->session);

    if (pty != NULL) {
        pty_open_slave(pty, file);
        return 0;
    }
    return terminal_is_command(thread->process) ? open_command(thread, file) : -ENXIO;
}

const struct file_type file_device_terminal = {
    .mode = S_IFCHR | 0666, .device = 5 << 8, .open = open_terminal};
const struct file_type file_device_command = {
    .mode = S_IFCHR | 0620, .device = 136 << 8, .open = open_command};
