/* socketpair: two connected sockets, which are the ends of two pipes. */
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/pipe.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/vm/uaccess.h"
#include "lib/array.h"

#define BUFFER_BYTES 212992 /* what Linux reports for an untouched socket */

struct socket {
    struct file *ends[2]; /* files without descriptors, by enum pipe_end; NULL: not made yet */
};

static struct pipe *pipe_at(const struct file *file, enum pipe_end end)
{
    const struct socket *socket = file->state;

    return socket->ends[end]->state;
}

static uint32_t how_of(const struct file *file, uint32_t flags)
{
    return (file->flags & O_NONBLOCK || flags & MSG_DONTWAIT ? 0 : PIPE_BLOCKS) |
           (flags & MSG_NOSIGNAL ? PIPE_QUIET : 0);
}

static int64_t read_socket(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    return pipe_read(thread, pipe_at(file, PIPE_READER), user, bytes, how_of(file, 0));
}

/* Writes bytes as they fit: no write to a socket is atomic. */
static int64_t write_socket(struct thread *thread, struct file *file, uint64_t /* offset */,
                            uint64_t user, uint64_t bytes)
{
    return pipe_write(thread, pipe_at(file, PIPE_WRITER), user, bytes, how_of(file, 0));
}

static uint32_t poll_socket(struct thread *, struct file *file)
{
    const struct pipe *in = pipe_at(file, PIPE_READER), *out = pipe_at(file, PIPE_WRITER);
    bool in_ended = !in->ends[PIPE_WRITER] || !in->ends[PIPE_READER];
    bool out_ended = !out->ends[PIPE_WRITER] || !out->ends[PIPE_READER];
    bool room = out_ended || pipe_buffer_room(&out->buffer) >= PIPE_ATOMIC_BYTES;

    return (in->buffer.used || in_ended ? POLL_READABLE : 0) | (in_ended ? POLL_PEER_ENDED : 0) |
           (in_ended && out_ended ? POLLHUP : 0) | (room ? POLL_WRITABLE : 0);
}

static int64_t control_socket(struct thread *, struct file *file, uint32_t request,
                              uint64_t argument)
{
    int32_t used = (int32_t)pipe_at(file, PIPE_READER)->buffer.used;

    return request == FIONREAD ? copy_to_user(argument, &used, sizeof used) : -ENOTTY;
}

static void release_socket(struct file *file)
{
    struct socket *socket = file->state;

    for (enum pipe_end end = PIPE_READER; end <= PIPE_WRITER; end++)
        if (socket != NULL && socket->ends[end] != NULL)
            files_release(socket->ends[end]);
    heap_free(socket, sizeof *socket);
}

static const struct file_type file_socket = {.mode = S_IFSOCK | 0777,
                                             .read = read_socket,
                                             .write = write_socket,
                                             .poll = poll_socket,
                                             .ioctl = control_socket,
                                             .release = release_socket};

static struct file *new_socket(struct process *process, uint32_t flags)
{
    struct socket *socket = heap_alloc(sizeof *socket);
    struct file *file = socket != NULL ? files_new(process, &file_socket, O_RDWR | flags) : NULL;

    if (file == NULL) {
        heap_free(socket, sizeof *socket);
        return NULL;
    }
    file->state = socket;
    files_hold(file);
    return file;
}

/* Gives a socket one end of a pipe.  Returns false if there is no memory. */
static bool give_end(struct process *process, struct file *file, struct pipe *pipe,
                     enum pipe_end end)
{
    struct socket *socket = file->state;
    struct file *inner = files_new(process, &file_path, 0);

    if (inner == NULL)
        return false;
    files_hold(inner);
    pipe_attach(pipe, inner, end == PIPE_READER ? &pipe_file_reader : &pipe_file_writer);
    inner->socket = file;
    socket->ends[end] = inner;
    return true;
}

/* Connects what one writes to what the other reads.  The reader comes first: a pipe is freed with
 * its last file. */
static bool connect_to(struct process *process, struct file *writer, struct file *reader)
{
    struct pipe *pipe = pipe_new();

    if (pipe == NULL)
        return false;
    if (!give_end(process, reader, pipe, PIPE_READER)) {
        pipe_free(pipe);
        return false;
    }
    return give_end(process, writer, pipe, PIPE_WRITER);
}

int64_t syscall_socketpair(struct thread *thread, struct trap_frame *frame)
{
    uint32_t type = (uint32_t)frame->rsi, flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct file *files[2] = {NULL, NULL};
    int64_t result = -ENOMEM;

    if ((uint32_t)frame->rdi != AF_UNIX || (type & ~flags) != SOCK_STREAM)
        return syscall_no_network(thread, frame);
    if ((uint32_t)frame->rdx > AF_UNIX)
        return -EPROTONOSUPPORT;
    for (int i = 0; i < 2; i++)
        files[i] = new_socket(thread->process, flags & SOCK_NONBLOCK);
    if (files[0] != NULL && files[1] != NULL && connect_to(thread->process, files[0], files[1]) &&
        connect_to(thread->process, files[1], files[0]))
        result = files_add_pair(thread->process, files, frame->r10, flags & SOCK_CLOEXEC);
    for (int i = 0; i < 2; i++)
        if (files[i] != NULL)
            files_release(files[i]);
    return result;
}

static struct file *socket_at(const struct thread *thread, uint64_t fd)
{
    struct file *file = files_get(thread->process, (int32_t)fd);

    return file != NULL && file->type == &file_socket ? file : NULL;
}

int64_t syscall_sendto(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = socket_at(thread, frame->rdi);
    uint32_t flags = (uint32_t)frame->r10;
    int64_t result;

    if (file == NULL)
        return syscall_no_socket(thread, frame);
    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (frame->r8 && (uint32_t)frame->r9)
        return -EISCONN;
    files_hold(file);
    result =
        pipe_write(thread, pipe_at(file, PIPE_WRITER), frame->rsi, frame->rdx, how_of(file, flags));
    files_release(file);
    return result;
}

/* Reads until it has what was asked for, or until the end or an error. */
static int64_t receive_all(struct thread *thread, struct pipe *pipe, uint64_t user, uint64_t bytes,
                           uint32_t how)
{
    uint64_t done = 0;

    while (done < bytes) {
        int64_t part = pipe_read(thread, pipe, user + done, bytes - done, how);

        if (part <= 0)
            return done ? (int64_t)done : part;
        done += (uint64_t)part;
    }
    return (int64_t)done;
}

/* Copies the contents without removing them. */
static int64_t socket_peek(struct thread *thread, struct pipe *pipe, uint64_t user, uint64_t bytes,
                           uint32_t how)
{
    int64_t status = bytes ? pipe_wait_filled(thread, pipe, how & PIPE_BLOCKS) : 0;
    uint32_t done = 0;

    while (status > 0 && done < bytes && done < pipe->buffer.used) {
        const uint8_t *at;
        uint32_t part = pipe_buffer_filled(&pipe->buffer, done, &at);

        part = part > bytes - done ? (uint32_t)(bytes - done) : part;
        if (copy_to_user(user + done, at, part) != 0)
            return done ? (int64_t)done : -EFAULT;
        done += part;
    }
    return status > 0 ? (int64_t)done : status;
}

/* Receives from a socket of another room, as a read does. */
static int64_t receive_other(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int64_t result;

    if (file == NULL || !S_ISSOCK(file->type->mode))
        return syscall_no_socket(thread, frame);
    if (frame->r10 & MSG_DONTWAIT && !(file->type->poll(thread, file) & POLLIN))
        return -EAGAIN;
    files_hold(file);
    result = file->type->read(thread, file, 0, frame->rsi, frame->rdx);
    files_release(file);
    return result;
}

int64_t syscall_recvfrom(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = socket_at(thread, frame->rdi);
    uint32_t flags = (uint32_t)frame->r10;
    const int32_t no_name = 0;
    struct pipe *pipe;
    int64_t result;

    if (file == NULL)
        return receive_other(thread, frame);
    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    files_hold(file);
    pipe = pipe_at(file, PIPE_READER);
    result = (flags & MSG_PEEK ? socket_peek
              : flags & MSG_WAITALL
                  ? receive_all
                  : pipe_read)(thread, pipe, frame->rsi, frame->rdx, how_of(file, flags));
    files_release(file);
    if (result >= 0 && frame->r8 && copy_to_user(frame->r9, &no_name, sizeof no_name) != 0)
        return -EFAULT;
    return result;
}

int64_t syscall_shutdown(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = socket_at(thread, frame->rdi);
    uint32_t what = (uint32_t)frame->rsi;

    if (file == NULL)
        return syscall_no_socket(thread, frame);
    if (what > SHUT_RDWR)
        return -EINVAL;
    if (what != SHUT_WR)
        pipe_shut(pipe_at(file, PIPE_READER), PIPE_READER);
    if (what != SHUT_RD)
        pipe_shut(pipe_at(file, PIPE_WRITER), PIPE_WRITER);
    return 0;
}

/* Writes a value, cut to *bytes bytes, and its full size to `bytes`. */
static int64_t put_value(const void *value, uint32_t value_bytes, uint64_t user, uint64_t bytes)
{
    int32_t room;

    if (copy_from_user(&room, bytes, sizeof room) != 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (copy_to_user(user, value, (uint32_t)room < value_bytes ? (uint32_t)room : value_bytes))
        return -EFAULT;
    return copy_to_user(bytes, &value_bytes, sizeof value_bytes);
}

int64_t syscall_getsockopt(struct thread *thread, struct trap_frame *frame)
{
    static const int32_t values[] = {
        [SO_TYPE] = SOCK_STREAM,    [SO_DOMAIN] = AF_UNIX, [SO_ERROR] = 0,
        [SO_SNDBUF] = BUFFER_BYTES, [SO_PROTOCOL] = 0,     [SO_ACCEPTCONN] = 0,
        [SO_RCVBUF] = BUFFER_BYTES};
    uint32_t name = (uint32_t)frame->rdx;
    int32_t value;

    if (socket_at(thread, frame->rdi) == NULL)
        return syscall_no_socket(thread, frame);
    if ((uint32_t)frame->rsi != SOL_SOCKET)
        return -EOPNOTSUPP;
    if (name >= ARRAY_COUNT(values))
        return -ENOPROTOOPT;
    value = values[name];
    return value || name == SO_ERROR || name == SO_PROTOCOL || name == SO_ACCEPTCONN
               ? put_value(&value, sizeof value, frame->r10, frame->r8)
               : -ENOPROTOOPT;
}

int64_t syscall_getsockname(struct thread *thread, struct trap_frame *frame)
{
    const uint16_t family = AF_UNIX; /* an address without a name */

    if (socket_at(thread, frame->rdi) == NULL)
        return syscall_no_socket(thread, frame);
    return put_value(&family, sizeof family, frame->rsi, frame->rdx);
}

int64_t syscall_no_network(struct thread *, struct trap_frame *frame)
{
    refused_count(frame->vector, REFUSED_NETWORK);
    return -EAFNOSUPPORT;
}

/* For socket calls on descriptors that are no sockets. */
int64_t syscall_no_socket(struct thread *thread, struct trap_frame *frame)
{
    return files_get(thread->process, (int32_t)frame->rdi) != NULL ? -ENOTSOCK : -EBADF;
}
