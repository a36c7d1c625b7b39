/* Pipes: reading, writing, waiting. */
#include "guest/pipe.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/heap.h"
#include "guest/phys.h"
#include "guest/poll.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"
#include "guest/wait.h"

#define PIPE_ORDER 4u /* 64 KiB */
#define PIPE_BYTES_MAX (1u << 20) /* /proc/sys/fs/pipe-max-size */

enum { READER, WRITER };

struct pipe *pipe_of(const struct file *file)
{
    return file->type == &file_pipe_reader || file->type == &file_pipe_writer ? file->state : NULL;
}

static void wake(struct pipe *pipe, int end)
{
    if (pipe->waiting[end])
        wait_wake_key(WAIT_KEY(&pipe->waiting[end]), UINT32_MAX);
    if (pipe->ends[end])
        poll_changed(pipe->ends[end],
                     end == READER ? POLL_READABLE | POLLHUP : POLL_WRITABLE | POLLERR);
}

static enum wait_end wait_at(struct thread *thread, struct pipe *pipe, int end)
{
    pipe->waiting[end]++;
    enum wait_end why = wait_on(thread, WAIT_KEY(&pipe->waiting[end]), WAIT_FOREVER,
                                end == READER ? "a read of a pipe" : "a write to a pipe");
    pipe->waiting[end]--;
    return why;
}

int64_t pipe_wait_filled(struct thread *thread, struct pipe *pipe, bool blocks)
{
    while (!pipe->buffer.used) {
        if (!pipe->ends[WRITER])
            return 0;
        if (!blocks)
            return -EAGAIN;
        if (wait_at(thread, pipe, READER) == WAIT_SIGNAL && !pipe->buffer.used)
            return -EINTR;
    }
    return 1;
}

int64_t pipe_wait_room(struct thread *thread, struct pipe *pipe, uint32_t bytes, bool blocks)
{
    for (;;) {
        if (!pipe->ends[READER]) {
            signal_send(thread, SIGPIPE, SI_USER);
            return -EPIPE;
        }
        if (pipe_buffer_room(&pipe->buffer) >= bytes)
            return 1;
        if (!blocks)
            return -EAGAIN;
        if (wait_at(thread, pipe, WRITER) == WAIT_SIGNAL && pipe_buffer_room(&pipe->buffer) < bytes)
            return -EINTR;
    }
}

void pipe_was_read(struct pipe *pipe, uint32_t room_before)
{
    bool was_full = room_before < PIPE_ATOMIC_BYTES;

    if (was_full && pipe_buffer_room(&pipe->buffer) >= PIPE_ATOMIC_BYTES)
        wake(pipe, WRITER);
    else if (pipe->waiting[WRITER])
        wait_wake_key(WAIT_KEY(&pipe->waiting[WRITER]), UINT32_MAX);
}

void pipe_was_written(struct pipe *pipe)
{
    wake(pipe, READER);
}

static int64_t read_pipe(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                         uint64_t bytes)
{
    struct pipe *pipe = file->state;
    uint64_t done = 0;
    int64_t status;
    int error = 0;

    (void)offset;
    if (!bytes)
        return 0;
    status = pipe_wait_filled(thread, pipe, !(file->flags & O_NONBLOCK));
    if (status <= 0)
        return status;
    uint32_t room = pipe_buffer_room(&pipe->buffer);
    while (done < bytes && pipe->buffer.used) {
        const uint8_t *at;
        uint32_t part = pipe_buffer_filled(&pipe->buffer, 0, &at);

        if (part > bytes - done)
            part = (uint32_t)(bytes - done);
        error = copy_to_user(user + done, at, part);
        if (error)
            break;
        pipe_buffer_drop(&pipe->buffer, part);
        done += part;
    }
    if (done)
        pipe_was_read(pipe, room);
    return done ? (int64_t)done : error;
}

/* Puts at most `bytes` bytes where there is room: their number, -EFAULT when there are none. */
static int64_t fill(struct pipe *pipe, uint64_t user, uint64_t bytes)
{
    uint64_t done = 0;

    while (done < bytes) {
        uint8_t *at;
        uint32_t part = pipe_buffer_free(&pipe->buffer, &at);

        if (!part)
            break;
        if (part > bytes - done)
            part = (uint32_t)(bytes - done);
        if (copy_from_user(at, user + done, part) != 0) {
            if (!done)
                return -EFAULT;
            break;
        }
        pipe_buffer_add(&pipe->buffer, part);
        done += part;
    }
    if (done)
        pipe_was_written(pipe);
    return (int64_t)done;
}

static int64_t write_pipe(struct thread *thread, struct file *file, uint64_t offset, uint64_t user,
                          uint64_t bytes)
{
    struct pipe *pipe = file->state;
    uint32_t least = bytes <= PIPE_ATOMIC_BYTES ? (uint32_t)bytes : 1;
    uint64_t done = 0;

    (void)offset;
    while (done < bytes) {
        int64_t status = pipe_wait_room(thread, pipe, least, !(file->flags & O_NONBLOCK));

        if (status > 0)
            status = fill(pipe, user + done, bytes - done);
        if (status < 0)
            return done ? (int64_t)done : status;
        done += (uint64_t)status;
    }
    return (int64_t)done;
}

static uint32_t poll_reader(struct thread *thread, struct file *file)
{
    const struct pipe *pipe = file->state;

    (void)thread;
    return (pipe->buffer.used ? POLL_READABLE : 0) | (pipe->ends[WRITER] ? 0 : POLLHUP);
}

static uint32_t poll_writer(struct thread *thread, struct file *file)
{
    const struct pipe *pipe = file->state;
    bool room = pipe_buffer_room(&pipe->buffer) >= PIPE_ATOMIC_BYTES;

    (void)thread;
    return (room ? POLL_WRITABLE : 0) | (pipe->ends[READER] ? 0 : POLLERR);
}

static int64_t control_pipe(struct thread *thread, struct file *file, uint32_t request,
                            uint64_t argument)
{
    const struct pipe *pipe = file->state;
    int32_t used = (int32_t)pipe->buffer.used;

    (void)thread;
    return request == FIONREAD ? copy_to_user(argument, &used, sizeof used) : -ENOTTY;
}

static void free_buffer(uint8_t *bytes, unsigned order)
{
    phys_free((uint64_t)bytes - DIRECT_MAP, order);
}

static void release_pipe(struct file *file)
{
    struct pipe *pipe = file->state;
    int own = file->type == &file_pipe_reader ? READER : WRITER;

    pipe->ends[own] = NULL;
    if (pipe->ends[!own]) {
        wake(pipe, !own);
        return;
    }
    free_buffer(pipe->buffer.bytes, pipe->order);
    heap_free(pipe, sizeof *pipe);
}

const struct file_type file_pipe_reader = {.mode = S_IFIFO | 0600,
                                           .read = read_pipe,
                                           .poll = poll_reader,
                                           .ioctl = control_pipe,
                                           .release = release_pipe};
const struct file_type file_pipe_writer = {.mode = S_IFIFO | 0600,
                                           .write = write_pipe,
                                           .poll = poll_writer,
                                           .ioctl = control_pipe,
                                           .release = release_pipe};

int64_t pipe_resize(struct pipe *pipe, uint64_t bytes)
{
    unsigned order = phys_order(bytes);
    uint64_t block;

    if (bytes > PIPE_BYTES_MAX)
        return bytes > 1u << 31 ? -EINVAL : -EPERM;
    if (((uint32_t)PAGE_BYTES << order) < pipe->buffer.used)
        return -EBUSY;
    if (order != pipe->order) {
        uint8_t *old = pipe->buffer.bytes;
        uint32_t room = pipe_buffer_room(&pipe->buffer);

        block = phys_alloc(order);
        if (!block)
            return -ENOMEM;
        pipe_buffer_move(&pipe->buffer, phys_pointer(block), (uint32_t)PAGE_BYTES << order);
        free_buffer(old, pipe->order);
        pipe->order = order;
        pipe_was_read(pipe, room);
    }
    return pipe->buffer.size;
}

static struct pipe *new_pipe(void)
{
    struct pipe *pipe = heap_alloc(sizeof *pipe);
    uint64_t block = pipe ? phys_alloc(PIPE_ORDER) : 0;

    if (!block) {
        if (pipe)
            heap_free(pipe, sizeof *pipe);
        return NULL;
    }
    pipe->order = PIPE_ORDER;
    pipe->buffer.bytes = phys_pointer(block);
    pipe->buffer.size = (uint32_t)PAGE_BYTES << PIPE_ORDER;
    return pipe;
}

/* Both ends' files; none has a descriptor yet. */
static int open_ends(struct process *process, struct file *files[2], uint32_t flags)
{
    struct pipe *pipe = new_pipe();

    if (!pipe)
        return -ENOMEM;
    files[READER] = files_new(process, &file_pipe_reader, O_RDONLY | flags);
    if (files[READER]) {
        files[READER]->state = pipe;
        pipe->ends[READER] = files[READER];
        files_hold(files[READER]);
        files[WRITER] = files_new(process, &file_pipe_writer, O_WRONLY | flags);
        if (files[WRITER]) {
            files[WRITER]->state = pipe;
            pipe->ends[WRITER] = files[WRITER];
            files_hold(files[WRITER]);
            return 0;
        }
        files_release(files[READER]); /* and the pipe */
        return -ENFILE;
    }
    free_buffer(pipe->buffer.bytes, pipe->order);
    heap_free(pipe, sizeof *pipe);
    return -ENFILE;
}

static int64_t make_pipe(struct thread *thread, uint64_t user, uint32_t flags)
{
    struct process *process = thread->process;
    struct file *files[2];
    int64_t fds[2];
    int32_t numbers[2];

    if (flags & ~(uint32_t)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
        return -EINVAL;
    int64_t result = open_ends(process, files, flags & O_NONBLOCK);
    if (result)
        return result;
    fds[0] = files_add(process, files[READER], 0, flags & O_CLOEXEC);
    fds[1] = fds[0] < 0 ? fds[0] : files_add(process, files[WRITER], 0, flags & O_CLOEXEC);
    numbers[0] = (int32_t)fds[0];
    numbers[1] = (int32_t)fds[1];
    result = fds[1] < 0 ? fds[1] : copy_to_user(user, numbers, sizeof numbers);
    for (int i = 0; i < 2 && result < 0; i++)
        if (fds[i] >= 0)
            files_close(process, fds[i]);
    files_release(files[READER]);
    files_release(files[WRITER]);
    return result;
}

int64_t syscall_pipe(struct thread *thread, struct trap_frame *frame)
{
    return make_pipe(thread, frame->rdi, 0);
}

int64_t syscall_pipe2(struct thread *thread, struct trap_frame *frame)
{
    return make_pipe(thread, frame->rdi, (uint32_t)frame->rsi);
}
