/* System calls that send and receive. */
#include <errno.h>
#include <linux/fcntl.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/poll.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_rights.h"
#include "guest/vm/uaccess.h"

#define VECTORS_MAX 1024u /* UIO_MAXIOV: messages of sendmmsg and recvmmsg */

/* struct msghdr, with numbers for pointers */
struct header {
    uint64_t name;
    uint32_t name_bytes;
    uint32_t padding;
    uint64_t vectors;
    uint64_t vector_count;
    uint64_t control;
    uint64_t control_bytes;
    uint32_t flags;
    uint32_t padding_after;
};
_Static_assert(sizeof(struct header) == sizeof(struct msghdr), "as the C library's");

#define MESSAGE_BYTES (sizeof(struct header) + 8) /* struct mmsghdr */

/* A message without its name, which is long. */
static void start_message(struct socket_message *m, const struct file *file, uint32_t flags)
{
    m->flags = flags | (file->flags & O_NONBLOCK ? MSG_DONTWAIT : 0);
    m->got = m->name_bytes = 0;
    m->rights = (struct socket_rights){0};
}

static int read_name(struct socket_message *m, uint64_t user, uint64_t bytes)
{
    if (!user || !(uint32_t)bytes)
        return 0;
    if ((int32_t)bytes < 0 || (uint32_t)bytes > SOCKET_NAME_MAX)
        return -EINVAL;
    m->name_bytes = (uint32_t)bytes;
    return copy_from_user(m->name, user, m->name_bytes);
}

static uint64_t capped(uint64_t bytes)
{
    return bytes < SYSCALL_IO_MAX ? bytes : SYSCALL_IO_MAX;
}

/* ---- one buffer ---- */

/* Finds the socket and begins the message of its buffer.  Returns NULL with the call's result if
 * there is none. */
static struct socket *start_buffer(struct thread *thread, const struct trap_frame *frame,
                                   struct socket_message *m, int64_t *result)
{
    struct socket *s = socket_at(thread, frame->rdi, result);

    if (s == NULL)
        return NULL;
    start_message(m, s->file, (uint32_t)frame->r10);
    m->bytes = socket_bytes_user(frame->rsi, capped(frame->rdx));
    return s;
}

int64_t syscall_sendto(struct thread *thread, struct trap_frame *frame)
{
    int64_t result;
    struct socket_message m;
    struct socket *s = start_buffer(thread, frame, &m, &result);
    struct file *file;

    if (s == NULL)
        return result;
    file = s->file;
    result = read_name(&m, frame->r8, frame->r9);
    if (result)
        return result;
    m.rights.pid = thread->process->pid;
    files_hold(file);
    result = s->kind->send(thread, s, &m);
    files_release(file);
    return result;
}

int64_t syscall_recvfrom(struct thread *thread, struct trap_frame *frame)
{
    int64_t result;
    struct socket_message m;
    struct socket *s = start_buffer(thread, frame, &m, &result);
    struct file *file;

    if (s == NULL)
        return result;
    file = s->file;
    if (frame->r10 & MSG_ERRQUEUE && !socket_is_unix(s))
        return -EAGAIN; /* errors are not queued */
    files_hold(file);
    result = s->kind->receive(thread, s, &m);
    socket_rights_drop(&m.rights);
    files_release(file);
    if (result >= 0 && frame->r8) {
        int64_t error = socket_write_name(m.name, m.name_bytes, frame->r8, frame->r9);

        return error ? error : result;
    }
    return result;
}

/* ---- messages ---- */

static int64_t send_message(struct thread *thread, struct socket *s, const struct file *file,
                            uint64_t user, uint32_t flags)
{
    struct socket_message m;
    struct header h;
    int64_t result;

    if (copy_from_user(&h, user, sizeof h) != 0)
        return -EFAULT;
    start_message(&m, file, flags);
    result = read_name(&m, h.name, h.name_bytes);
    if (!result)
        result = socket_bytes_vectors(&m.bytes, h.vectors, h.vector_count);
    if (!result && h.control && h.control_bytes && socket_is_unix(s)) {
        const struct socket_control control = {.user = h.control, .room = h.control_bytes};

        result = h.control_bytes > INT32_MAX ? -ENOBUFS
                                             : socket_rights_read(thread, &control, &m.rights);
    }
    if (result)
        return result;
    m.rights.pid = thread->process->pid;
    result = s->kind->send(thread, s, &m);
    socket_rights_drop(&m.rights);
    return result;
}

/* Writes what a message brought in addition to its bytes. */
static int64_t write_header(struct thread *thread, const struct socket *s, struct socket_message *m,
                            struct header *h, uint64_t user)
{
    struct socket_control control = {.user = h->control, .room = h->control ? h->control_bytes : 0};
    uint64_t name_bytes_at = user + offsetof(struct header, name_bytes);
    uint32_t flags = m->got;
    int64_t error = 0;

    if (h->name)
        error = socket_write_name(m->name, m->name_bytes, h->name, name_bytes_at);
    if (socket_is_unix(s))
        flags |= socket_rights_write(thread, &control, &m->rights, s->options.pass_credentials,
                                     m->flags & MSG_CMSG_CLOEXEC);
    flags |= m->flags & MSG_CMSG_CLOEXEC;
    if (!error)
        error = copy_to_user(user + offsetof(struct header, control_bytes), &control.used,
                             sizeof control.used);
    if (!error)
        error = copy_to_user(user + offsetof(struct header, flags), &flags, sizeof flags);
    return error;
}

static int64_t receive_message(struct thread *thread, struct socket *s, const struct file *file,
                               uint64_t user, uint32_t flags)
{
    struct socket_message m;
    struct header h;
    int64_t result, error;

    if (copy_from_user(&h, user, sizeof h) != 0)
        return -EFAULT;
    if (flags & MSG_ERRQUEUE && !socket_is_unix(s))
        return -EAGAIN;
    start_message(&m, file, flags);
    result = socket_bytes_vectors(&m.bytes, h.vectors, h.vector_count);
    if (result)
        return result;
    result = s->kind->receive(thread, s, &m);
    if (result < 0) {
        socket_rights_drop(&m.rights);
        return result;
    }
    error = write_header(thread, s, &m, &h, user);
    socket_rights_drop(&m.rights);
    return error ? error : result;
}

typedef int64_t one_message(struct thread *thread, struct socket *s, const struct file *file,
                            uint64_t user, uint32_t flags);

static int64_t message_call(struct thread *thread, const struct trap_frame *frame,
                            one_message *move)
{
    int64_t result;
    struct socket *s = socket_at(thread, frame->rdi, &result);
    struct file *file;

    if (s == NULL)
        return result;
    file = s->file;
    files_hold(file);
    result = move(thread, s, file, frame->rsi, (uint32_t)frame->rdx);
    files_release(file);
    return result;
}

int64_t syscall_sendmsg(struct thread *thread, struct trap_frame *frame)
{
    return message_call(thread, frame, send_message);
}

int64_t syscall_recvmsg(struct thread *thread, struct trap_frame *frame)
{
    return message_call(thread, frame, receive_message);
}

/* ---- several messages ---- */

/* Sends or receives up to `count` messages, until `deadline` or an error, which the next call gets.
 */
static int64_t several(struct thread *thread, struct socket *s, const struct trap_frame *frame,
                       one_message *move, uint64_t deadline)
{
    uint32_t count = (uint32_t)frame->rdx, flags = (uint32_t)frame->r10, done = 0;
    struct file *file = s->file;
    int64_t result = 0;

    if (count > VECTORS_MAX)
        count = VECTORS_MAX;
    for (; done < count; done++) {
        uint64_t at = frame->rsi + done * MESSAGE_BYTES;
        uint32_t bytes;

        result = move(thread, s, file, at, flags & ~(uint32_t)MSG_WAITFORONE);
        if (result < 0)
            break;
        bytes = (uint32_t)result;
        if (copy_to_user(at + sizeof(struct header), &bytes, sizeof bytes) != 0) {
            result = -EFAULT;
            break;
        }
        if (flags & MSG_WAITFORONE)
            flags |= MSG_DONTWAIT;
        if (!poll_left(deadline)) {
            done++;
            break;
        }
    }
    return done ? done : result;
}

static int64_t several_call(struct thread *thread, const struct trap_frame *frame,
                            one_message *move, uint64_t deadline)
{
    int64_t result;
    struct socket *s = socket_at(thread, frame->rdi, &result);
    struct file *file;

    if (s == NULL)
        return result;
    file = s->file;
    files_hold(file);
    result = several(thread, s, frame, move, deadline);
    files_release(file);
    return result;
}

int64_t syscall_sendmmsg(struct thread *thread, struct trap_frame *frame)
{
    return several_call(thread, frame, send_message, WAIT_FOREVER);
}

static int read_deadline(uint64_t user, uint64_t *deadline)
{
    int64_t time[2];

    if (copy_from_user(time, user, sizeof time) != 0)
        return -EFAULT;
    if (time[0] < 0 || time[1] < 0 || time[1] >= (int64_t)NS_PER_SECOND)
        return -EINVAL;
    *deadline = (uint64_t)time[0] < UINT64_MAX / NS_PER_SECOND - 1
                    ? poll_deadline((uint64_t)time[0] * NS_PER_SECOND + (uint64_t)time[1])
                    : WAIT_FOREVER;
    return 0;
}

/* As on Linux, the time limit is looked at after each message only. */
int64_t syscall_recvmmsg(struct thread *thread, struct trap_frame *frame)
{
    uint64_t deadline = WAIT_FOREVER;
    int64_t result = frame->r8 ? read_deadline(frame->r8, &deadline) : 0;

    if (result)
        return result;
    result = several_call(thread, frame, receive_message, deadline);
    if (frame->r8 && result > 0) {
        uint64_t left = poll_left(deadline);
        const uint64_t time[2] = {left / NS_PER_SECOND, left % NS_PER_SECOND};

        if (copy_to_user(frame->r8, time, sizeof time) != 0)
            return -EFAULT;
    }
    return result;
}
