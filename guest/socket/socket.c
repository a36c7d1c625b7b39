/* Sockets as objects and as open files. */
#include "guest/socket/socket.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/stat.h>

#include "guest/base/context.h"
#include "guest/file/file_owner.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/socket/socket_interface.h"
#include "guest/socket/socket_rights.h"
#include "guest/vm/uaccess.h"

/* ---- waiting ---- */

uint64_t socket_deadline(const struct socket *s, uint32_t flags, bool sends)
{
    uint64_t ns = s->options.timeout_ns[sends];

    if (flags & MSG_DONTWAIT)
        return 0;
    return ns ? poll_deadline(ns) : WAIT_FOREVER;
}

int64_t socket_wait(struct thread *thread, uint32_t *waiting, uint64_t deadline, const char *what)
{
    enum wait_end end;

    if (!deadline)
        return -EAGAIN;
    end = wait_counted(thread, WAIT_KEY(waiting), poll_left(deadline), what, waiting);
    return end == WAIT_SIGNAL ? -EINTR : end == WAIT_TIMEOUT ? -EAGAIN : 0;
}

void socket_tell_readers(struct socket *s, uint32_t events)
{
    if (s->readers)
        wait_wake_key(WAIT_KEY(&s->readers), s->state == SOCKET_LISTENS ? 1 : UINT32_MAX);
    if (s->file != NULL)
        poll_changed(s->file, events);
    if (s->outside)
        socket_outside_changed(s);
}

void socket_tell_writers(struct socket *s)
{
    if (s->writers)
        wait_wake_key(WAIT_KEY(&s->writers), UINT32_MAX);
    if (s->file != NULL)
        poll_changed(s->file, POLL_WRITABLE);
}

void socket_tell_all(struct socket *s)
{
    wait_wake_key(WAIT_KEY(&s->readers), UINT32_MAX);
    wait_wake_key(WAIT_KEY(&s->writers), UINT32_MAX);
    if (s->file != NULL)
        poll_changed(s->file, POLL_READABLE | POLL_WRITABLE | POLL_PEER_ENDED | POLL_ALWAYS);
    if (s->outside)
        socket_outside_changed(s);
}

int socket_take_error(struct socket *s)
{
    int error = s->error;

    s->error = 0;
    return -error;
}

/* ---- lists ---- */

void socket_list_add(struct socket_list *list, struct socket *s)
{
    s->next = NULL;
    if (list->last != NULL)
        list->last->next = s;
    else
        list->first = s;
    list->last = s;
    list->length++;
}

struct socket *socket_list_take(struct socket_list *list)
{
    struct socket *s = list->first;

    if (s != NULL)
        socket_list_remove(list, s);
    return s;
}

void socket_list_remove(struct socket_list *list, struct socket *s)
{
    struct socket *before = NULL;

    for (struct socket *at = list->first; at != s; at = at->next)
        before = at;
    if (before != NULL)
        before->next = s->next;
    else
        list->first = s->next;
    if (list->last == s)
        list->last = before;
    s->next = NULL;
    list->length--;
}

/* ---- objects ---- */

struct socket *socket_new(const struct socket_kind *kind, int domain, int type, int protocol)
{
    struct socket *s = heap_alloc(sizeof *s);

    if (s == NULL)
        return NULL;
    s->kind = kind;
    s->references = 1;
    s->domain = (uint16_t)domain;
    s->type = (uint16_t)type;
    s->protocol = (uint16_t)protocol;
    socket_option_start(&s->options, kind != &socket_tcp);
    if (domain == AF_INET || domain == AF_INET6)
        socket_inet_start(s);
    socket_collect_add(s);
    return s;
}

void socket_hold(struct socket *s)
{
    cross_assert_held();
    s->references++;
}

void socket_release(struct socket *s)
{
    cross_assert_held();
    if (--s->references)
        return;
    socket_collect_remove(s);
    heap_free(s, sizeof *s);
}

/* Gives up what only an open socket has.  The name and the list of ports go first: dropping files
 * may wait. */
void socket_close(struct socket *s)
{
    struct socket *peer = s->peer;
    struct socket_packet *packet;

    s->closed = true;
    s->file = NULL;
    s->kind->leave(s);
    if (s->listener != NULL)
        socket_list_remove(&s->listener->connecting, s);
    s->listener = NULL;
    socket_stream_closed(s);
    s->peer = NULL;
    socket_stream_refuse(s);
    socket_tell_all(s); /* senders that wait for room */
    while ((packet = socket_queue_take(&s->in)) != NULL)
        socket_packet_free(packet);
    if (peer != NULL)
        socket_release(peer);
    socket_release(s);
}

/* ---- files ---- */

static int64_t receive_bytes(struct thread *thread, struct socket *s, struct socket_bytes bytes,
                             bool blocks)
{
    struct socket_message m; /* without its name: it is long */
    int64_t result;

    if (!bytes.left && s->type != SOCK_DGRAM && s->domain != AF_NETLINK)
        return 0;
    m.bytes = bytes;
    m.flags = blocks ? 0 : MSG_DONTWAIT;
    m.got = m.name_bytes = 0;
    m.rights = (struct socket_rights){0};
    result = s->kind->receive(thread, s, &m);
    socket_rights_drop(&m.rights);
    return result;
}

static int64_t send_bytes(struct thread *thread, struct socket *s, struct socket_bytes bytes,
                          bool blocks)
{
    struct socket_message m;

    m.bytes = bytes;
    m.flags = blocks ? 0 : MSG_DONTWAIT;
    m.got = m.name_bytes = 0;
    m.rights = (struct socket_rights){.pid = thread->process->pid};
    return s->kind->send(thread, s, &m);
}

static int64_t read_socket(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    return receive_bytes(thread, file->state, socket_bytes_user(user, bytes),
                         !(file->flags & O_NONBLOCK));
}

static int64_t write_socket(struct thread *thread, struct file *file, uint64_t /* offset */,
                            uint64_t user, uint64_t bytes)
{
    return send_bytes(thread, file->state, socket_bytes_user(user, bytes),
                      !(file->flags & O_NONBLOCK));
}

static int64_t take_socket(struct thread *thread, struct file *file, void *to, uint64_t bytes,
                           bool blocks)
{
    return receive_bytes(thread, file->state, socket_bytes_kernel(to, bytes), blocks);
}

static int64_t put_socket(struct thread *thread, struct file *file, const void *from,
                          uint64_t bytes, bool blocks)
{
    return send_bytes(thread, file->state, socket_bytes_kernel((uint8_t *)(uintptr_t)from, bytes),
                      blocks);
}

static uint32_t poll_socket(struct thread *, struct file *file)
{
    const struct socket *s = file->state;

    return s->kind->poll(s);
}

/* Returns what FIONREAD gives: of datagrams, the size of the next one. */
static int32_t bytes_ready(const struct socket *s)
{
    const struct socket_packet *first = s->in.first;

    if (s->type == SOCK_DGRAM)
        return first != NULL ? (int32_t)(first->end - first->start) : 0;
    return (int32_t)socket_urgent_ready(s);
}

static int64_t control_owner(struct file *file, uint32_t request, uint64_t argument)
{
    int32_t owner = file_owner_get(file);

    if (request == FIOGETOWN || request == SIOCGPGRP)
        return copy_to_user(argument, &owner, sizeof owner);
    if (copy_from_user(&owner, argument, sizeof owner) != 0)
        return -EFAULT;
    return file_owner_set(file, owner);
}

static int64_t control_socket(struct thread *, struct file *file, uint32_t request,
                              uint64_t argument)
{
    const struct socket *s = file->state;
    int32_t value = 0;

    switch (request) {
    case FIONREAD:
        if (s->state == SOCKET_LISTENS)
            return -EINVAL;
        value = bytes_ready(s);
        break;
    case SIOCOUTQ: /* what was sent is received at once */
        break;
    case SIOCATMARK:
        if (s->type == SOCK_DGRAM && !socket_is_unix(s))
            return -ENOTTY;
        value = socket_urgent_at_mark(s);
        break;
    case FIOASYNC: /* there is no SIGIO */
        return 0;
    case FIOSETOWN:
    case FIOGETOWN:
    case SIOCSPGRP:
    case SIOCGPGRP:
        return control_owner(file, request, argument);
    default:
        return socket_interface_control(request, argument);
    }
    return copy_to_user(argument, &value, sizeof value);
}

static void release_socket(struct file *file)
{
    if (file->state != NULL)
        socket_close(file->state);
}

const struct file_type socket_file = {.mode = S_IFSOCK | 0777,
                                      .read = read_socket,
                                      .write = write_socket,
                                      .take = take_socket,
                                      .put = put_socket,
                                      .poll = poll_socket,
                                      .ioctl = control_socket,
                                      .release = release_socket};

struct file *socket_make_file(struct process *process, struct socket *s, uint32_t flags)
{
    struct file *file = files_new(process, &socket_file, O_RDWR | flags);

    if (file == NULL) {
        socket_close(s);
        return NULL;
    }
    file->state = s;
    s->file = file;
    return file;
}
