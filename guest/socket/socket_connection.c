/* How connections begin and end. */
#include <errno.h>

#include "guest/base/context.h"
#include "guest/file/poll.h"
#include "guest/socket/socket.h"
#include "guest/thread/process.h"

#define BACKLOG_MAX 4096 /* /proc/sys/net/core/somaxconn */

void socket_stream_join(struct socket *a, struct socket *b)
{
    struct socket *both[2] = {a, b};

    for (int i = 0; i < 2; i++) {
        socket_hold(both[!i]);
        both[i]->peer = both[!i];
        both[i]->state = SOCKET_CONNECTED;
    }
}

/* Returns true if it takes no more connections now. */
static bool socket_stream_full(const struct socket *listener)
{
    return listener->accepted.length > listener->backlog;
}

/* Makes what accept will give, connected to `client`.  Returns 0 or -ENOBUFS. */
static int offer(struct socket *listener, struct socket *client)
{
    struct socket *s =
        socket_new(listener->kind, listener->domain, listener->type, listener->protocol);

    if (s == NULL)
        return -ENOBUFS;
    s->options = listener->options;
    if (socket_is_unix(s)) {
        s->local.name_bytes = listener->local.name_bytes;
        __builtin_memcpy(s->local.name, listener->local.name, sizeof s->local.name);
    } else {
        socket_inet_inherit(s, client);
    }
    socket_stream_join(s, client);
    s->peer_pid = client->own_pid;
    client->peer_pid = listener->own_pid;
    socket_list_add(&listener->accepted, s);
    socket_tell_readers(listener, POLL_READABLE);
    return 0;
}

void socket_stream_taken(struct socket *listener)
{
    while (!socket_stream_full(listener) && listener->connecting.first != NULL) {
        struct socket *client = socket_list_take(&listener->connecting);

        client->listener = NULL;
        client->state = SOCKET_NEW;
        client->error = -offer(listener, client);
        socket_tell_all(client);
    }
}

/* No longer waits for a listener. */
static void stop_connecting(struct socket *s)
{
    socket_list_remove(&s->listener->connecting, s);
    s->listener = NULL;
    s->state = SOCKET_NEW;
}

int64_t socket_stream_await(struct thread *thread, struct socket *s, uint64_t deadline)
{
    int64_t error = 0;

    while (s->state == SOCKET_CONNECTING) {
        if (error && socket_is_unix(s))
            stop_connecting(s);
        if (error)
            return error == -EAGAIN && !socket_is_unix(s) ? -EINPROGRESS : error;
        error = socket_wait(thread, &s->writers, deadline, "a connection to a listening socket");
    }
    if (s->error)
        return socket_take_error(s);
    return s->state == SOCKET_CONNECTED ? 0 : -ECONNABORTED;
}

int socket_stream_begin(struct socket *s, struct socket *listener)
{
    if (!socket_stream_full(listener))
        return offer(listener, s);
    s->state = SOCKET_CONNECTING;
    s->listener = listener;
    socket_list_add(&listener->connecting, s);
    return -EINPROGRESS;
}

int64_t socket_stream_connect(struct thread *thread, struct socket *s, struct socket *listener,
                              uint64_t deadline)
{
    int result;

    context_assert_thread();
    s->own_pid = thread->process->pid;
    if (socket_stream_full(listener) && socket_is_unix(s) && !deadline)
        return -EAGAIN;
    result = socket_stream_begin(s, listener);
    return result == -EINPROGRESS ? socket_stream_await(thread, s, deadline) : result;
}

int socket_stream_listen(struct thread *thread, struct socket *s, int32_t backlog)
{
    int error;

    if (s->kind->listen == NULL)
        return -EOPNOTSUPP;
    if (s->state != SOCKET_NEW && s->state != SOCKET_LISTENS)
        return -EINVAL;
    error = s->state == SOCKET_NEW ? s->kind->listen(thread, s) : 0;
    if (error)
        return error;
    s->backlog = (uint32_t)backlog > BACKLOG_MAX ? BACKLOG_MAX : (uint32_t)backlog;
    s->own_pid = s->peer_pid = thread->process->pid;
    s->state = SOCKET_LISTENS;
    s->shut = 0;
    socket_stream_taken(s);
    return 0;
}

/* Ends a connection at once, in both directions. */
static void reset(struct socket *s)
{
    s->error = s->fin ? EPIPE : ECONNRESET;
    s->shut = SOCKET_SHUT_BOTH;
}

void socket_stream_closed(struct socket *s)
{
    struct socket *peer = s->peer;
    bool linger_zero = !socket_is_unix(s) && s->options.lingers && !s->options.linger_seconds;

    if (s->type == SOCK_DGRAM || s->state != SOCKET_CONNECTED || peer->closed)
        return;
    if (s->in.packets || s->resets || linger_zero)
        reset(peer);
    else if (socket_is_unix(s))
        peer->shut = SOCKET_SHUT_BOTH;
    else
        peer->fin = true;
    socket_tell_all(peer);
}

void socket_stream_refuse(struct socket *listener)
{
    struct socket *s;

    while ((s = socket_list_take(&listener->connecting)) != NULL) {
        s->listener = NULL;
        s->state = SOCKET_NEW;
        s->error = ECONNREFUSED;
        socket_tell_all(s);
    }
    while ((s = socket_list_take(&listener->accepted)) != NULL) {
        s->resets = true;
        socket_close(s);
    }
}

/* Tells the other end of a connection what it can no longer do. */
static void shut_peer(struct socket *peer, uint32_t how, bool is_unix)
{
    if (is_unix) {
        peer->shut |= (how & SOCKET_SHUT_WRITE ? SOCKET_SHUT_READ : 0) |
                      (how & SOCKET_SHUT_READ ? SOCKET_SHUT_WRITE : 0);
    } else if (how & SOCKET_SHUT_WRITE) {
        peer->fin = true;
    }
    socket_tell_all(peer);
}

int64_t socket_stream_shutdown(struct socket *s, uint32_t how)
{
    bool connected = s->state == SOCKET_CONNECTED || s->state == SOCKET_CONNECTING;

    cross_assert_held();
    if (s->state == SOCKET_LISTENS) {
        if (how & SOCKET_SHUT_READ) {
            s->state = SOCKET_NEW;
            socket_stream_refuse(s);
            socket_tell_all(s);
        }
        return 0;
    }
    s->shut |= (uint8_t)how;
    if (!connected && !socket_is_unix(s))
        return -ENOTCONN;
    if (s->type != SOCK_DGRAM && s->state == SOCKET_CONNECTED && !s->peer->closed)
        shut_peer(s->peer, how, socket_is_unix(s));
    socket_tell_all(s);
    return 0;
}
