/* System calls that make, name and connect sockets. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"
#include "guest/socket/socket.h"
#include "guest/vm/uaccess.h"

#define TYPE_FLAGS (SOCK_NONBLOCK | SOCK_CLOEXEC)
#define TYPE_MAX 11u /* SOCK_MAX */
#define FAMILY_MAX 46u /* AF_MAX */

/* What socket() of any other family does. */
static int64_t socket_no_network(struct thread *, struct trap_frame *frame)
{
    refused_count(frame->vector, REFUSED_NETWORK);
    return -EAFNOSUPPORT;
}

struct socket *socket_at(const struct thread *thread, uint64_t fd, int64_t *error)
{
    struct file *file = files_get(thread->process, (int32_t)fd);
    struct socket *s = file != NULL ? socket_of(file) : NULL;

    *error = file == NULL || file->flags & O_PATH ? -EBADF : s == NULL ? -ENOTSOCK : 0;
    return *error ? NULL : s;
}

/* ---- making ---- */

static int unix_kind(uint32_t *type, uint32_t protocol, const struct socket_kind **kind)
{
    if (protocol && protocol != AF_UNIX)
        return -EPROTONOSUPPORT;
    if (*type == SOCK_RAW)
        *type = SOCK_DGRAM;
    if (*type != SOCK_STREAM && *type != SOCK_DGRAM && *type != SOCK_SEQPACKET)
        return -ESOCKTNOSUPPORT;
    *kind = *type == SOCK_DGRAM ? &socket_unix_datagram : &socket_unix_stream;
    return 0;
}

static int inet_kind(uint32_t type, uint32_t *protocol, const struct socket_kind **kind)
{
    uint32_t own = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;

    if (type == SOCK_RAW)
        return -EPERM;
    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if (*protocol && *protocol != own)
        return -EPROTONOSUPPORT;
    *protocol = own;
    *kind = type == SOCK_STREAM ? &socket_tcp : &socket_udp;
    return 0;
}

static int netlink_kind(uint32_t type, uint32_t protocol, const struct socket_kind **kind)
{
    if (type != SOCK_RAW && type != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if (protocol != NETLINK_ROUTE)
        return -EPROTONOSUPPORT;
    *kind = &socket_netlink;
    return 0;
}

/* Makes a socket.  Returns NULL and *error if it cannot. */
static struct socket *make_socket(uint32_t domain, uint32_t type, uint32_t protocol, int *error)
{
    const struct socket_kind *kind = NULL;
    struct socket *s;

    if (domain == AF_UNIX) {
        *error = unix_kind(&type, protocol, &kind);
        protocol = 0;
    } else if (domain == AF_NETLINK) {
        *error = netlink_kind(type, protocol, &kind);
    } else {
        *error = inet_kind(type, &protocol, &kind);
    }
    if (*error)
        return NULL;
    s = socket_new(kind, (int)domain, (int)type, (int)protocol);
    if (s == NULL)
        *error = -ENOBUFS;
    return s;
}

static bool is_family(uint32_t domain)
{
    return domain == AF_UNIX || domain == AF_INET || domain == AF_INET6 || domain == AF_NETLINK;
}

int64_t syscall_socket(struct thread *thread, struct trap_frame *frame)
{
    uint32_t domain = (uint32_t)frame->rdi, type = (uint32_t)frame->rsi;
    uint32_t flags = type & TYPE_FLAGS;
    struct socket *s;
    struct file *file;
    int error;

    if ((type & ~0xfu & ~(uint32_t)TYPE_FLAGS) || (type & 0xf) >= TYPE_MAX)
        return domain < FAMILY_MAX ? -EINVAL : -EAFNOSUPPORT;
    if (domain == AF_PACKET)
        return -EPERM;
    if (!is_family(domain))
        return socket_no_network(thread, frame);
    s = make_socket(domain, type & 0xf, (uint32_t)frame->rdx, &error);
    if (s == NULL)
        return error;
    file = socket_make_file(thread->process, s, flags & SOCK_NONBLOCK);
    return file != NULL ? files_add_new(thread->process, file, flags & SOCK_CLOEXEC) : -ENFILE;
}

/* Connects two sockets of AF_UNIX. */
static void make_pair(const struct thread *thread, struct socket *a, struct socket *b)
{
    socket_stream_join(a, b);
    a->peer_pid = b->peer_pid = thread->process->pid;
}

int64_t syscall_socketpair(struct thread *thread, struct trap_frame *frame)
{
    uint32_t domain = (uint32_t)frame->rdi, type = (uint32_t)frame->rsi;
    uint32_t flags = type & TYPE_FLAGS;
    struct file *files[2] = {NULL, NULL};
    int64_t result = -ENFILE;
    int error = 0;

    if ((type & ~0xfu & ~(uint32_t)TYPE_FLAGS) || (type & 0xf) >= TYPE_MAX)
        return -EINVAL;
    if (!is_family(domain))
        return socket_no_network(thread, frame);
    for (int i = 0; i < 2 && !error; i++) {
        struct socket *s = make_socket(domain, type & 0xf, (uint32_t)frame->rdx, &error);

        if (s != NULL)
            files[i] = socket_make_file(thread->process, s, flags & SOCK_NONBLOCK);
        if (files[i] != NULL)
            files_hold(files[i]);
    }
    if (error || domain != AF_UNIX) {
        result = error ? error : -EOPNOTSUPP;
    } else if (files[0] != NULL && files[1] != NULL) {
        make_pair(thread, files[0]->state, files[1]->state);
        result = files_add_pair(thread->process, files, frame->r10, flags & SOCK_CLOEXEC);
    }
    for (int i = 0; i < 2; i++)
        if (files[i] != NULL)
            files_release(files[i]);
    return result;
}

/* ---- names ---- */

/* Reads a name of the program's.  Returns 0, -EINVAL or -EFAULT. */
static int read_name(void *name, uint64_t user, uint64_t bytes)
{
    if ((int32_t)bytes < 0 || (uint32_t)bytes > SOCKET_NAME_MAX)
        return -EINVAL;
    return copy_from_user(name, user, (uint32_t)bytes);
}

int64_t socket_write_name(const void *name, uint32_t bytes, uint64_t user, uint64_t user_bytes)
{
    int32_t room;

    if (copy_from_user(&room, user_bytes, sizeof room) != 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (copy_to_user(user, name, (uint32_t)room < bytes ? (uint32_t)room : bytes) != 0)
        return -EFAULT;
    return copy_to_user(user_bytes, &bytes, sizeof bytes);
}

/* Calls one that may wait, while another thread closes the descriptor. */
static int64_t with_name(struct thread *thread, const struct trap_frame *frame,
                         int64_t (*call)(struct thread *thread, struct socket *s, const void *name,
                                         uint32_t bytes))
{
    uint8_t name[SOCKET_NAME_MAX];
    int64_t result;
    struct socket *s = socket_at(thread, frame->rdi, &result);
    struct file *file;

    if (s == NULL)
        return result;
    result = read_name(name, frame->rsi, frame->rdx);
    if (result)
        return result;
    file = s->file;
    files_hold(file);
    result = call(thread, s, name, (uint32_t)frame->rdx);
    files_release(file);
    return result;
}

static int64_t bind_socket(struct thread *thread, struct socket *s, const void *name,
                           uint32_t bytes)
{
    return s->kind->bind(thread, s, name, bytes);
}

static int64_t connect_socket(struct thread *thread, struct socket *s, const void *name,
                              uint32_t bytes)
{
    uint32_t flags = s->file->flags & O_NONBLOCK ? MSG_DONTWAIT : 0;

    return s->kind->connect(thread, s, name, bytes, socket_deadline(s, flags, true));
}

int64_t syscall_bind(struct thread *thread, struct trap_frame *frame)
{
    return with_name(thread, frame, bind_socket);
}

int64_t syscall_connect(struct thread *thread, struct trap_frame *frame)
{
    int64_t result = with_name(thread, frame, connect_socket);

    if (result == -ENETUNREACH) {
        const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

        if (file != NULL && socket_of(file) != NULL && socket_of(file)->type == SOCK_STREAM)
            refused_count(frame->vector, REFUSED_NETWORK);
    }
    return result;
}

static int64_t tell_name(const struct thread *thread, const struct trap_frame *frame,
                         enum socket_whose whose)
{
    uint8_t name[SOCKET_NAME_MAX];
    int64_t error;
    const struct socket *s = socket_at(thread, frame->rdi, &error);
    uint32_t bytes = s != NULL ? s->kind->name(s, whose, name) : 0;

    if (s == NULL)
        return error;
    return bytes ? socket_write_name(name, bytes, frame->rsi, frame->rdx) : -ENOTCONN;
}

int64_t syscall_getsockname(struct thread *thread, struct trap_frame *frame)
{
    return tell_name(thread, frame, SOCKET_OWN);
}

int64_t syscall_getpeername(struct thread *thread, struct trap_frame *frame)
{
    return tell_name(thread, frame, SOCKET_PEER);
}

/* ---- listening ---- */

int64_t syscall_listen(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct socket *s = socket_at(thread, frame->rdi, &error);

    if (s == NULL)
        return error;
    return socket_stream_listen(thread, s, (int32_t)frame->rsi);
}

/* Waits for a connection.  Returns 0 and *taken, or -errno. */
static int64_t take_connection(struct thread *thread, struct socket *listener, uint32_t flags,
                               struct socket **taken)
{
    uint64_t deadline = socket_deadline(listener, flags, false);
    int64_t error = 0;

    while ((*taken = socket_list_take(&listener->accepted)) == NULL) {
        if (listener->state != SOCKET_LISTENS)
            return -EINVAL;
        if (error)
            return error;
        error = socket_wait(thread, &listener->readers, deadline, "a connection to a socket");
    }
    socket_stream_taken(listener);
    return 0;
}

static int64_t accept_from(struct thread *thread, struct socket *listener,
                           const struct trap_frame *frame, uint32_t flags)
{
    uint8_t name[SOCKET_NAME_MAX];
    struct socket *s;
    struct file *file;
    uint32_t bytes, waits = listener->file->flags & O_NONBLOCK ? MSG_DONTWAIT : 0;
    int64_t fd, result;

    if (!files_room(thread->process))
        return -EMFILE;
    result = take_connection(thread, listener, waits, &s);
    if (result)
        return result;
    file = socket_make_file(thread->process, s, flags & SOCK_NONBLOCK);
    if (file == NULL)
        return -ENFILE;
    fd = files_add_new(thread->process, file, flags & SOCK_CLOEXEC);
    if (fd < 0 || !frame->rsi)
        return fd;
    bytes = s->kind->name(s, SOCKET_PEER_EVER, name);
    if (!bytes) {
        files_close(thread->process, fd);
        return -ECONNABORTED;
    }
    result = socket_write_name(name, bytes, frame->rsi, frame->rdx);
    if (result)
        files_close(thread->process, fd);
    return result ? result : fd;
}

static int64_t accept_call(struct thread *thread, const struct trap_frame *frame, uint32_t flags)
{
    int64_t result;
    struct socket *s = socket_at(thread, frame->rdi, &result);
    struct file *file;

    if (flags & ~(uint32_t)TYPE_FLAGS)
        return -EINVAL;
    if (s == NULL)
        return result;
    if (s->kind->listen == NULL)
        return -EOPNOTSUPP;
    file = s->file;
    files_hold(file);
    result = accept_from(thread, s, frame, flags);
    files_release(file);
    return result;
}

int64_t syscall_accept(struct thread *thread, struct trap_frame *frame)
{
    return accept_call(thread, frame, 0);
}

int64_t syscall_accept4(struct thread *thread, struct trap_frame *frame)
{
    return accept_call(thread, frame, (uint32_t)frame->r10);
}

int64_t syscall_shutdown(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct socket *s = socket_at(thread, frame->rdi, &error);
    uint32_t how = (uint32_t)frame->rsi;

    if (s == NULL)
        return error;
    if (s->domain == AF_NETLINK)
        return -EOPNOTSUPP;
    return how > SHUT_RDWR ? -EINVAL : socket_stream_shutdown(s, how + 1);
}

/* ---- options ---- */

int64_t syscall_getsockopt(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct socket *s = socket_at(thread, frame->rdi, &error);

    return s != NULL ? socket_option_get(s, (uint32_t)frame->rsi, (uint32_t)frame->rdx, frame->r10,
                                         frame->r8)
                     : error;
}

int64_t syscall_setsockopt(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct socket *s = socket_at(thread, frame->rdi, &error);

    return s != NULL ? socket_option_set(s, (uint32_t)frame->rsi, (uint32_t)frame->rdx, frame->r10,
                                         (int32_t)frame->r8)
                     : error;
}
