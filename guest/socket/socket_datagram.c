/* Datagrams: packets that stay whole. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/file/poll.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_rights.h"

struct socket_packet *socket_datagram_make(const struct socket *to, struct socket_message *m,
                                           const void *name, uint32_t name_bytes, int *error)
{
    uint32_t bytes = (uint32_t)m->bytes.left;
    struct socket_packet *packet = socket_packet_new(name_bytes + bytes, false);

    *error = packet == NULL ? -ENOBUFS : 0;
    if (packet == NULL)
        return NULL;
    if (name_bytes)
        memcpy(packet->data, name, name_bytes);
    packet->name_bytes = (uint16_t)name_bytes;
    packet->start = name_bytes;
    packet->end = name_bytes + bytes;
    *error = socket_bytes_take(&m->bytes, packet->data + name_bytes, bytes);
    if (*error) {
        socket_packet_free(packet);
        return NULL;
    }
    if (socket_is_unix(to)) {
        packet->rights = m->rights;
        m->rights = (struct socket_rights){.pid = m->rights.pid};
    }
    return packet;
}

void socket_datagram_put(struct socket *to, struct socket_packet *packet)
{
    socket_queue_add(&to->in, packet);
    socket_tell_readers(to, POLL_READABLE);
}

int64_t socket_datagram_take(struct socket *s, struct socket_message *m)
{
    struct socket_packet *packet = s->in.first;
    uint32_t whole = packet->end - packet->start;
    uint32_t part = whole < m->bytes.left ? whole : (uint32_t)m->bytes.left;
    int error = socket_bytes_put(&m->bytes, packet->data + packet->start, part);

    m->name_bytes = packet->name_bytes;
    memcpy(m->name, packet->data, packet->name_bytes);
    if (!error)
        error = socket_rights_take(&m->rights, &packet->rights, m->flags & MSG_PEEK);
    if (part < whole)
        m->got |= MSG_TRUNC;
    if (!(m->flags & MSG_PEEK)) /* also one that could not be copied, as on Linux */
        socket_packet_free(socket_queue_take(&s->in));
    if (error)
        return error;
    return m->flags & MSG_TRUNC ? whole : part;
}

int64_t socket_datagram_receive(struct thread *thread, struct socket *s, struct socket_message *m)
{
    uint64_t deadline = UINT64_MAX - 1;
    int64_t error = 0;

    context_assert_thread();
    m->name_bytes = 0;
    if (m->flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (s->error)
        return socket_take_error(s);
    while (!s->in.packets) {
        if (s->error)
            return socket_take_error(s);
        if (error)
            return error;
        if (deadline == UINT64_MAX - 1)
            deadline = socket_deadline(s, m->flags, false);
        if (s->shut & SOCKET_SHUT_READ) /* Linux sees the end only when it waits */
            return deadline ? 0 : -EAGAIN;
        error = socket_wait(thread, &s->readers, deadline, "a datagram");
    }
    error = socket_datagram_take(s, m);
    if (s->writers)
        wait_wake_key(WAIT_KEY(&s->writers), UINT32_MAX);
    if (socket_is_unix(s) && s->peer != NULL && s->peer->peer == s && s->peer->file != NULL)
        poll_changed(s->peer->file, POLL_WRITABLE);
    return error;
}

uint32_t socket_datagram_poll(const struct socket *s, bool room)
{
    return (s->error ? POLLERR : 0) | (s->in.packets ? POLL_READABLE : 0) |
           (s->shut & SOCKET_SHUT_READ ? POLL_READABLE | POLL_PEER_ENDED : 0) |
           (s->shut == SOCKET_SHUT_BOTH ? POLLHUP : 0) | (room ? POLL_WRITABLE | POLLWRBAND : 0);
}
