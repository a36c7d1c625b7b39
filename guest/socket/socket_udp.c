/* UDP: datagrams to sockets on this machine. */
#include <errno.h>
#include <netinet/in.h>

#include "guest/base/context.h"
#include "guest/socket/socket.h"

#define BYTES_MAX 65507u /* what fits into an IPv4 packet */

static void disconnect(struct socket *s)
{
    socket_address_any(&s->inet.remote, s->domain == AF_INET);
    s->inet.remote.port = 0;
    s->state = SOCKET_NEW;
}

static int64_t connect_udp(struct thread *, struct socket *s, const void *name, uint32_t bytes,
                           uint64_t /* deadline */)
{
    const struct sockaddr *any = name;
    struct socket_address to;
    int error;

    if (bytes >= sizeof any->sa_family && any->sa_family == AF_UNSPEC) {
        disconnect(s);
        return 0;
    }
    error = socket_address_read(&to, s->domain, name, bytes);
    if (!error)
        error = socket_outside_covers(s, &to) ? socket_inet_route_outside(s, &to, true)
                                              : socket_inet_route(s, &to, true);
    if (error)
        return error;
    s->inet.remote = to;
    s->state = SOCKET_CONNECTED;
    return 0;
}

/* Where a message goes. */
static int destination(const struct socket *s, const struct socket_message *m,
                       struct socket_address *to)
{
    int error = 0;

    *to = s->inet.remote;
    if (m->name_bytes)
        error = socket_address_read(to, s->domain, m->name, m->name_bytes);
    else if (s->state != SOCKET_CONNECTED)
        error = -EDESTADDRREQ;
    return !error && !to->port ? -EINVAL : error;
}

/* Where a message comes from, as its receiver sees it. */
static struct socket_address source(const struct socket *s, const struct socket_address *to)
{
    struct socket_address from = s->inet.local;

    if (socket_address_place(&from) == SOCKET_PLACE_ANY)
        socket_address_loopback(&from, socket_address_is_v4(to));
    return from;
}

/* Gives the message to the socket that is there.  A network loses what there is no room for. */
static int deliver(struct socket *s, const struct socket_address *to, struct socket_message *m)
{
    struct socket_address from = source(s, to);
    struct socket *receiver = socket_inet_find(IPPROTO_UDP, to, &from);
    uint8_t name[SOCKET_NAME_MAX];
    struct socket_packet *packet;
    uint64_t used;
    int error;

    if (receiver == NULL || receiver->shut & SOCKET_SHUT_READ) {
        if (receiver == NULL && s->state == SOCKET_CONNECTED)
            s->error = ECONNREFUSED;
        if (s->error)
            socket_tell_all(s);
        return 0;
    }
    used = receiver->in.bytes + (uint64_t)receiver->in.packets * SOCKET_DATAGRAM_COST;
    if (used + m->bytes.left > (uint64_t)receiver->options.receive_bytes)
        return 0;
    packet = socket_datagram_make(receiver, m, name,
                                  socket_address_write(&from, receiver->domain, name), &error);
    if (packet != NULL)
        socket_datagram_put(receiver, packet);
    return error;
}

static int64_t send_udp(struct thread *, struct socket *s, struct socket_message *m)
{
    int64_t bytes = (int64_t)m->bytes.left;
    struct socket_address to;
    int error;

    context_assert_thread();
    if (m->bytes.left > BYTES_MAX)
        return -EMSGSIZE;
    if (m->flags & MSG_OOB)
        return -EOPNOTSUPP;
    error = destination(s, m, &to);
    if (!error && s->error)
        return socket_take_error(s);
    if (!error && s->shut & SOCKET_SHUT_WRITE)
        error = -EPIPE;
    if (error)
        return error;
    if (socket_outside_covers(s, &to)) {
        error = socket_inet_route_outside(s, &to, false);
        return error ? error : (error = socket_outside_send(s, &to, m)) ? error : bytes;
    }
    error = socket_inet_route(s, &to, false);
    if (!error)
        error = deliver(s, &to, m);
    return error ? error : bytes;
}

static uint32_t poll_udp(const struct socket *s)
{
    return socket_datagram_poll(s, true);
}

const struct socket_kind socket_udp = {.bind = socket_inet_bind_name,
                                       .connect = connect_udp,
                                       .send = send_udp,
                                       .receive = socket_datagram_receive,
                                       .poll = poll_udp,
                                       .name = socket_inet_name,
                                       .leave = socket_inet_leave};
