/* Sockets of AF_NETLINK: names, and what goes to the kernel and comes from it. */
#include "guest/socket/socket_netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_route.h"

#define PORTS_OWN                                                                  \
    0xfffff000u /* names of a process's second socket and the next ones, downwards \
                 */
#define HEAD_ROOM 32 /* of the send buffer, for what Linux puts before a message */

static struct socket *named;

struct socket *socket_netlink_of(const struct file *file)
{
    struct socket *s = socket_of(file);

    return s != NULL && s->domain == AF_NETLINK ? s : NULL;
}

/* ---- names ---- */

static bool is_taken(uint32_t port)
{
    const struct socket *s = named;

    while (s != NULL && s->netlink.port != port)
        s = s->netlink.next;
    return s != NULL;
}

static void take_name(struct socket *s, uint32_t port)
{
    s->netlink.port = port;
    s->netlink.next = named;
    named = s;
}

/* Gives a socket without a name one that is free. */
static void name_self(const struct thread *thread, struct socket *s)
{
    uint32_t port = thread->process->pid;

    if (s->netlink.port)
        return;
    if (is_taken(port))
        for (port = PORTS_OWN; is_taken(port); port--)
            ;
    take_name(s, port);
}

static void leave_netlink(struct socket *s)
{
    struct socket **at = &named;

    if (!s->netlink.port)
        return;
    while (*at != s)
        at = &(*at)->netlink.next;
    *at = s->netlink.next;
    s->netlink.port = 0;
}

static bool is_name(const void *name, uint32_t bytes)
{
    const struct sockaddr_nl *to = name;

    return bytes >= sizeof *to && to->nl_family == AF_NETLINK;
}

static int bind_netlink(struct thread *thread, struct socket *s, const void *name, uint32_t bytes)
{
    const struct sockaddr_nl *own = name;

    if (!is_name(name, bytes) || (s->netlink.port && own->nl_pid != s->netlink.port))
        return -EINVAL;
    if (!s->netlink.port && own->nl_pid) {
        if (is_taken(own->nl_pid))
            return -EADDRINUSE;
        take_name(s, own->nl_pid);
    }
    name_self(thread, s);
    s->netlink.groups = own->nl_groups;
    return 0;
}

/* A program without privileges sends to the kernel alone. */
static int64_t connect_netlink(struct thread *thread, struct socket *s, const void *name,
                               uint32_t bytes, uint64_t /* deadline */)
{
    const struct sockaddr_nl *to = name;

    if (bytes < sizeof to->nl_family)
        return -EINVAL;
    if (to->nl_family == AF_UNSPEC)
        return 0;
    if (!is_name(name, bytes))
        return -EINVAL;
    if (to->nl_pid || to->nl_groups)
        return -EPERM;
    name_self(thread, s);
    return 0;
}

static uint32_t name_netlink(const struct socket *s, enum socket_whose whose, void *out)
{
    const struct sockaddr_nl name = {.nl_family = AF_NETLINK,
                                     .nl_pid = whose == SOCKET_OWN ? s->netlink.port : 0,
                                     .nl_groups = whose == SOCKET_OWN ? s->netlink.groups : 0};

    memcpy(out, &name, sizeof name);
    return sizeof name;
}

/* ---- messages ---- */

void socket_netlink_put(struct socket *s, const void *message, uint32_t bytes)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct socket_message m = {.bytes = socket_bytes_kernel((uint8_t *)(uintptr_t)message, bytes)};
    struct socket_packet *packet = NULL;
    int error;

    if (s->in.bytes < (uint32_t)s->options.receive_bytes && !socket_queue_scarce())
        packet = socket_datagram_make(s, &m, &kernel, sizeof kernel, &error);
    if (packet != NULL) {
        socket_datagram_put(s, packet);
        return;
    }
    s->error = ENOBUFS;
    socket_tell_all(s);
}

static int64_t send_netlink(struct thread *thread, struct socket *s, struct socket_message *m)
{
    const struct sockaddr_nl *to = (const void *)m->name;
    uint64_t bytes = m->bytes.left;
    struct socket_packet *packet;
    int error;

    context_assert_thread();
    if (m->flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (!bytes)
        return -ENODATA;
    if (m->name_bytes && !is_name(m->name, m->name_bytes))
        return -EINVAL;
    if (m->name_bytes && (to->nl_pid || to->nl_groups))
        return -EPERM;
    name_self(thread, s);
    if (bytes > (uint64_t)(s->options.send_bytes - HEAD_ROOM))
        return -EMSGSIZE;
    packet = socket_datagram_make(s, m, NULL, 0, &error);
    if (packet == NULL)
        return error;
    socket_route_request(s, packet->data, (uint32_t)bytes);
    socket_packet_free(packet);
    return (int64_t)bytes;
}

static uint32_t poll_netlink(const struct socket *s)
{
    return socket_datagram_poll(s, true);
}

const struct socket_kind socket_netlink = {.bind = bind_netlink,
                                           .connect = connect_netlink,
                                           .send = send_netlink,
                                           .receive = socket_datagram_receive,
                                           .poll = poll_netlink,
                                           .name = name_netlink,
                                           .leave = leave_netlink};
