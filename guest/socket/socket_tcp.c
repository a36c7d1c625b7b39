/* TCP: connections to listeners on this machine. */
#include <errno.h>
#include <netinet/in.h>

#include "guest/base/context.h"
#include "guest/socket/socket.h"

/* Ends a connection or an attempt: the socket can be connected again. */
static void disconnect(struct socket *s)
{
    struct socket_packet *packet;

    if (s->listener != NULL)
        socket_list_remove(&s->listener->connecting, s);
    s->listener = NULL;
    s->resets = true;
    socket_stream_closed(s);
    while ((packet = socket_queue_take(&s->in)) != NULL)
        socket_packet_free(packet);
    s->urgent = (struct socket_urgent){0};
    if (s->peer != NULL)
        socket_release(s->peer);
    s->peer = NULL;
    s->state = SOCKET_NEW;
    s->shut = 0;
    s->fin = s->resets = s->tells_connect = false;
    socket_tell_all(s);
}

/* A socket that got its port from an attempt that failed has none again. */
static void give_back_port(struct socket *s, bool was_bound)
{
    if (was_bound)
        return;
    socket_inet_leave(s);
    socket_inet_start(s);
}

/* Connects to the outside. */
static int64_t begin_outside(struct thread *thread, struct socket *s,
                             const struct socket_address *to, uint64_t deadline)
{
    bool was_bound = s->inet.bound;
    int64_t result = socket_inet_route_outside(s, to, true);

    if (!result)
        result = socket_outside_connect(thread, s, to, deadline);
    if (result && s->state == SOCKET_NEW)
        give_back_port(s, was_bound);
    return result;
}

/* Finds the listener and connects to it.  -EINPROGRESS: its queue is full. */
static int64_t begin(struct thread *thread, struct socket *s, struct socket_address *to,
                     uint64_t deadline)
{
    bool was_bound = s->inet.bound;
    int64_t result = socket_inet_route(s, to, true);
    struct socket *listener;

    if (result)
        return result;
    listener = socket_inet_find(IPPROTO_TCP, to, &s->inet.local);
    s->inet.remote = *to;
    result =
        listener != NULL ? socket_stream_connect(thread, s, listener, deadline) : -ECONNREFUSED;
    if (result && s->state == SOCKET_NEW) {
        s->shut = 0;
        give_back_port(s, was_bound);
    }
    return result;
}

/* Continues an attempt, or tells how it ended. */
static int64_t go_on(struct thread *thread, struct socket *s, uint64_t deadline)
{
    if (s->state == SOCKET_CONNECTING) {
        if (!deadline)
            return -EALREADY;
        return socket_stream_await(thread, s, deadline);
    }
    if (s->state == SOCKET_LISTENS || !s->tells_connect)
        return -EISCONN;
    s->tells_connect = false;
    return 0;
}

static int64_t connect_tcp(struct thread *thread, struct socket *s, const void *name,
                           uint32_t bytes, uint64_t deadline)
{
    const struct sockaddr *any = name;
    struct socket_address to;
    int64_t result;

    context_assert_thread();
    if (bytes < sizeof any->sa_family)
        return -EINVAL;
    if (any->sa_family == AF_UNSPEC) {
        if (s->state == SOCKET_LISTENS)
            socket_stream_shutdown(s, SOCKET_SHUT_READ);
        disconnect(s);
        return 0;
    }
    if (s->state != SOCKET_NEW)
        return go_on(thread, s, deadline);
    if (s->error) {
        s->tells_connect = false;
        return socket_take_error(s);
    }
    result = socket_address_read(&to, s->domain, name, bytes);
    if (!result)
        result = socket_outside_covers(s, &to) ? begin_outside(thread, s, &to, deadline)
                                               : begin(thread, s, &to, deadline);
    if (deadline || (result && result != -ECONNREFUSED && result != -EINPROGRESS))
        return result;
    s->tells_connect = true; /* as over a network, it is never done at once */
    s->error = result == -ECONNREFUSED ? ECONNREFUSED : 0;
    return -EINPROGRESS;
}

const struct socket_kind socket_tcp = {.bind = socket_inet_bind_name,
                                       .connect = connect_tcp,
                                       .listen = socket_inet_listen,
                                       .send = socket_stream_send,
                                       .receive = socket_stream_receive,
                                       .poll = socket_stream_poll,
                                       .name = socket_inet_name,
                                       .leave = socket_inet_leave};
