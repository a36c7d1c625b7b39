/* The command's standard streams. */
#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/run.h"
#include "guest/file/files.h"
#include "guest/file/input.h"
#include "guest/file/poll.h"
#include "guest/file/terminal.h"
#include "guest/service/service.h"
#include "guest/signal/signal.h"
#include "guest/thread/process.h"
#include "guest/vm/uaccess.h"

/* Reads as from a pipe: returns what one request brings; the rest stays for the next. */
static int64_t read_input(struct thread *thread, struct file *file, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    int64_t result;
    int error;

    if (bytes > SERVICE_BYTES_MAX)
        bytes = SERVICE_BYTES_MAX;
    if (!bytes)
        return 0;
    error = uaccess_prepare_write(user, bytes);
    if (error)
        return error;
    result = input_read(thread, bytes, !(file->flags & O_NONBLOCK));
    if (result <= 0)
        return result;
    error = copy_to_user(user, service_buffer(), (size_t)result);
    return error ? error : result;
}

static int64_t read_terminal(struct thread *thread, struct file *file, uint64_t offset,
                             uint64_t user, uint64_t bytes)
{
    int64_t error = bytes && thread->process->session == process_first.session
                        ? terminal_check(thread, process_foreground, SIGTTIN)
                        : 0;

    return error ? error : read_input(thread, file, offset, user, bytes);
}

/* The stream that a file is: 2 is standard error. */
static int stream_of(const struct file *file)
{
    return file->stream == 2 ? 2 : 1;
}

/* Returns true if the host said that the stream has no reader. */
static bool stream_broken(const struct file *file)
{
    return run_state.broken_streams >> stream_of(file) & 1;
}

int64_t file_stream_write(struct thread *thread, const struct file *file, uint64_t bytes)
{
    if (stream_broken(file)) {
        signal_send(thread, SIGPIPE, SI_USER);
        return -EPIPE;
    }
    return service_write(stream_of(file), bytes);
}

static int64_t write_output(struct thread *thread, struct file *file, uint64_t /* offset */,
                            uint64_t user, uint64_t bytes)
{
    uint64_t done = 0;

    while (done < bytes) {
        uint64_t part = bytes - done < SERVICE_BYTES_MAX ? bytes - done : SERVICE_BYTES_MAX;
        int64_t error = copy_from_user(service_buffer(), user + done, part);

        if (!error)
            error = file_stream_write(thread, file, part);
        if (error)
            return done ? (int64_t)done : error;
        done += part;
    }
    return (int64_t)done;
}

static uint32_t poll_input(struct thread *, struct file *)
{
    uint32_t events = input_events();

    return events & POLLIN ? events | POLL_READABLE : events;
}

static uint32_t poll_output(struct thread *, struct file *file)
{
    return POLL_WRITABLE | (stream_broken(file) ? POLLERR : 0);
}

static uint32_t poll_terminal(struct thread *thread, struct file *file)
{
    return poll_input(thread, file) | POLL_WRITABLE;
}

const struct file_type file_input = {
    .mode = S_IFIFO | 0600, .read = read_input, .poll = poll_input};
const struct file_type file_output = {
    .mode = S_IFIFO | 0600, .write = write_output, .poll = poll_output};
const struct file_type file_terminal = {.mode = S_IFCHR | 0620,
                                        .device = 136 << 8,
                                        .read = read_terminal,
                                        .write = write_output,
                                        .poll = poll_terminal};
