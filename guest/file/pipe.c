/* Pipes: reading, writing, waiting. */
#include "guest/file/pipe.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/context.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/signal/signal.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define PIPE_ORDER 4u /* 64 KiB */
#define PIPE_BYTES_MAX (1u << 20) /* /proc/sys/fs/pipe-max-size */

struct pipe *pipe_of(const struct file *file)
{
    const struct file_type *type = file->type;

    return type == &pipe_file_reader || type == &pipe_file_writer || type == &pipe_file_both
               ? file->state
               : NULL;
}

static bool has_end(const struct file_type *type, enum pipe_end end)
{
    return end == PIPE_READER ? type != &pipe_file_writer : type != &pipe_file_reader;
}

static void pipe_wake(struct pipe *pipe, enum pipe_end end)
{
    uint32_t events = end == PIPE_READER ? POLL_READABLE | POLLHUP : POLL_WRITABLE | POLLERR;

    if (pipe->waiting[end])
        wait_wake_key(WAIT_KEY(&pipe->waiting[end]), UINT32_MAX);
    for (struct file *file = pipe->files; file != NULL; file = file->next_of_pipe)
        if (has_end(file->type, end))
            poll_changed(file, events);
}

static enum wait_end wait_at(struct thread *thread, struct pipe *pipe, enum pipe_end end)
{
    return wait_counted(thread, WAIT_KEY(&pipe->waiting[end]), WAIT_FOREVER,
                        end == PIPE_READER ? "a read of a pipe" : "a write to a pipe",
                        &pipe->waiting[end]);
}

int64_t pipe_wait_filled(struct thread *thread, struct pipe *pipe, bool blocks)
{
    while (!pipe->buffer.used) {
        if (!pipe->ends[PIPE_WRITER] || !pipe->ends[PIPE_READER])
            return 0;
        if (!blocks)
            return -EAGAIN;
        if (wait_at(thread, pipe, PIPE_READER) == WAIT_SIGNAL && !pipe->buffer.used)
            return -EINTR;
    }
    return 1;
}

int64_t pipe_wait_room(struct thread *thread, struct pipe *pipe, uint32_t bytes, bool blocks)
{
    for (;;) {
        if (!pipe->ends[PIPE_READER] || !pipe->ends[PIPE_WRITER])
            break;
        if (pipe_buffer_room(&pipe->buffer) >= bytes)
            return 1;
        if (!blocks)
            return -EAGAIN;
        if (wait_at(thread, pipe, PIPE_WRITER) == WAIT_SIGNAL &&
            pipe_buffer_room(&pipe->buffer) < bytes)
            return -EINTR;
    }
    signal_send(thread, SIGPIPE, SI_USER);
    return -EPIPE;
}

void pipe_was_read(struct pipe *pipe, uint32_t room_before)
{
    bool was_full = room_before < PIPE_ATOMIC_BYTES;

    if (was_full && pipe_buffer_room(&pipe->buffer) >= PIPE_ATOMIC_BYTES)
        pipe_wake(pipe, PIPE_WRITER);
    else if (pipe->waiting[PIPE_WRITER])
        wait_wake_key(WAIT_KEY(&pipe->waiting[PIPE_WRITER]), UINT32_MAX);
}

void pipe_was_written(struct pipe *pipe)
{
    pipe_wake(pipe, PIPE_READER);
}

static int64_t read_pipe(struct thread *thread, struct file *file, uint64_t /* offset */,
                         uint64_t user, uint64_t bytes)
{
    struct pipe *pipe = file->state;
    uint64_t done = 0;
    int64_t status;
    int error = 0;
    uint32_t room;

    if (!bytes)
        return 0;
    status = pipe_wait_filled(thread, pipe, !(file->flags & O_NONBLOCK));
    if (status <= 0)
        return status;
    room = pipe_buffer_room(&pipe->buffer);
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

/* Copies at most `bytes` bytes to where there is room.  Returns their number, or -EFAULT if there
 * are none. */
static int64_t pipe_fill(struct pipe *pipe, uint64_t user, uint64_t bytes)
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

static int64_t write_pipe(struct thread *thread, struct file *file, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    struct pipe *pipe = file->state;
    uint32_t least = bytes <= PIPE_ATOMIC_BYTES ? (uint32_t)bytes : 1;
    uint64_t done = 0;

    while (done < bytes) {
        int64_t status = pipe_wait_room(thread, pipe, least, !(file->flags & O_NONBLOCK));

        if (status > 0)
            status = pipe_fill(pipe, user + done, bytes - done);
        if (status < 0)
            return done ? (int64_t)done : status;
        done += (uint64_t)status;
    }
    return (int64_t)done;
}

static uint32_t poll_reader(struct thread *, struct file *file)
{
    const struct pipe *pipe = file->state;
    bool ended = !pipe->ends[PIPE_WRITER] && file->writers_seen != pipe->opened[PIPE_WRITER];

    return (pipe->buffer.used ? POLL_READABLE : 0) | (ended ? POLLHUP : 0);
}

static uint32_t poll_writer(struct thread *, struct file *file)
{
    const struct pipe *pipe = file->state;
    bool room = pipe_buffer_room(&pipe->buffer) >= PIPE_ATOMIC_BYTES;

    return (room ? POLL_WRITABLE : 0) | (pipe->ends[PIPE_READER] ? 0 : POLLERR);
}

static uint32_t poll_both(struct thread *thread, struct file *file)
{
    return poll_reader(thread, file) | poll_writer(thread, file);
}

static int64_t control_pipe(struct thread *, struct file *file, uint32_t request, uint64_t argument)
{
    const struct pipe *pipe = file->state;
    int32_t used = (int32_t)pipe->buffer.used;

    return request == FIONREAD ? copy_to_user(argument, &used, sizeof used) : -ENOTTY;
}

static void free_buffer(uint8_t *bytes, unsigned order)
{
    phys_free((uint64_t)bytes - DIRECT_MAP, order);
}

void pipe_attach(struct pipe *pipe, struct file *file, const struct file_type *type)
{
    cross_assert_held();
    file->type = type;
    file->state = pipe;
    if (pipe->files != NULL)
        file->number = pipe->files->number;
    file->next_of_pipe = pipe->files;
    pipe->files = file;
    for (enum pipe_end end = PIPE_READER; end <= PIPE_WRITER; end++)
        if (has_end(type, end)) {
            pipe->ends[end]++;
            pipe->opened[end]++;
        }
}

/* Frees a pipe without files. */
static void pipe_free(struct pipe *pipe)
{
    if (pipe->fifo != NULL)
        pipe->fifo->pipe = NULL;
    free_buffer(pipe->buffer.bytes, pipe->order);
    heap_free(pipe, sizeof *pipe);
}

/* Frees the pipe if the file was its last one. */
static void detach(struct file *file)
{
    struct pipe *pipe = file->state;
    struct file **at = &pipe->files;

    cross_assert_held();
    while (*at != file)
        at = &(*at)->next_of_pipe;
    *at = file->next_of_pipe;
    if (pipe->files == NULL) {
        pipe_free(pipe);
        return;
    }
    for (enum pipe_end end = PIPE_READER; end <= PIPE_WRITER; end++)
        if (has_end(file->type, end) && pipe->ends[end] && !--pipe->ends[end])
            pipe_wake(pipe, end == PIPE_READER ? PIPE_WRITER : PIPE_READER);
}

const struct file_type pipe_file_reader = {.mode = S_IFIFO | 0600,
                                           .read = read_pipe,
                                           .poll = poll_reader,
                                           .ioctl = control_pipe,
                                           .release = detach};
const struct file_type pipe_file_writer = {.mode = S_IFIFO | 0600,
                                           .write = write_pipe,
                                           .poll = poll_writer,
                                           .ioctl = control_pipe,
                                           .release = detach};
const struct file_type pipe_file_both = {.mode = S_IFIFO | 0600,
                                         .read = read_pipe,
                                         .write = write_pipe,
                                         .poll = poll_both,
                                         .ioctl = control_pipe,
                                         .release = detach};

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

struct pipe *pipe_new(void)
{
    struct pipe *pipe = heap_alloc(sizeof *pipe);
    uint64_t block = pipe != NULL ? phys_alloc(PIPE_ORDER) : 0;

    if (!block) {
        if (pipe != NULL)
            heap_free(pipe, sizeof *pipe);
        return NULL;
    }
    pipe->order = PIPE_ORDER;
    pipe->buffer.bytes = phys_pointer(block);
    pipe->buffer.size = (uint32_t)PAGE_BYTES << PIPE_ORDER;
    return pipe;
}

/* Opens the files of both ends, without descriptors. */
static int open_ends(struct process *process, struct file *files[2], uint32_t flags)
{
    struct pipe *pipe = pipe_new();

    if (pipe == NULL)
        return -ENOMEM;
    for (enum pipe_end end = PIPE_READER; end <= PIPE_WRITER; end++) {
        files[end] =
            files_new(process, &file_path, (end == PIPE_READER ? O_RDONLY : O_WRONLY) | flags);
        if (files[end] != NULL) {
            pipe_attach(pipe, files[end],
                        end == PIPE_READER ? &pipe_file_reader : &pipe_file_writer);
            files_hold(files[end]);
        } else if (end == PIPE_READER) {
            pipe_free(pipe);
            return -ENFILE;
        } else {
            files_release(files[PIPE_READER]); /* frees the pipe, too */
            return -ENFILE;
        }
    }
    return 0;
}

static int64_t make_pipe(struct thread *thread, uint64_t user, uint32_t flags)
{
    struct file *files[2];
    int64_t result;

    if (flags & ~(uint32_t)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
        return -EINVAL;
    result = open_ends(thread->process, files, flags & O_NONBLOCK);
    if (result)
        return result;
    result = files_add_pair(thread->process, files, user, flags & O_CLOEXEC);
    files_release(files[PIPE_READER]);
    files_release(files[PIPE_WRITER]);
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
