/* The devices of /dev. */
#include <errno.h>
#include <sys/stat.h>

#include "guest/cpu/cross.h"
#include "guest/file/file_device.h"
#include "guest/file/pty.h"
#include "guest/file/terminal.h"
#include "guest/signal/signal.h"
#include "guest/thread/process.h"
#include "guest/vm/uaccess.h"
#include "lib/x86.h"

#define PART_BYTES 65536u
#define PAUSES 64u /* for a CPU that waits for the lock to see that it is free */

static int64_t read_nothing(struct thread *, struct file *, uint64_t /* offset */,
                            uint64_t /* user */, uint64_t /* bytes */)
{
    return 0;
}

/* Lets other CPUs into the kernel.  Returns true if a signal waits. */
static bool device_pause(const struct thread *thread)
{
    cross_unlock();
    for (uint32_t i = 0; i < PAUSES && cross_several; i++)
        x86_pause();
    cross_lock(cpu_this());
    return signal_deliverable(thread);
}

/* Reads in parts: between them other threads and signals have their turn, as on Linux.  A read may
 * be as large as memory. */
static int64_t read_parts(const struct thread *thread, uint64_t user, uint64_t bytes,
                          int64_t (*fill)(uint64_t user, uint64_t bytes))
{
    uint64_t done = 0;

    while (done < bytes) {
        uint64_t part = bytes - done < PART_BYTES ? bytes - done : PART_BYTES;
        int64_t result = fill(user + done, part);

        if (result < 0)
            return done ? (int64_t)done : result;
        done += (uint64_t)result;
        if ((uint64_t)result < part || (done < bytes && device_pause(thread)))
            break;
    }
    return (int64_t)done;
}

static int64_t fill_zeros(uint64_t user, uint64_t bytes)
{
    int error = uaccess_zero(user, bytes);

    return error ? error : (int64_t)bytes;
}

static int64_t read_zeros(struct thread *thread, struct file *, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    return read_parts(thread, user, bytes, fill_zeros);
}

int64_t file_device_fill_random(const struct thread *thread, uint64_t user, uint64_t bytes)
{
    return read_parts(thread, user, bytes, uaccess_random);
}

static int64_t read_random(struct thread *thread, struct file *, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    return file_device_fill_random(thread, user, bytes);
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
