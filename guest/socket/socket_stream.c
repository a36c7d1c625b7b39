/* Connections: byte streams of both families, and SOCK_SEQPACKET of AF_UNIX. */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "guest/base/context.h"
#include "guest/file/poll.h"
#include "guest/signal/signal.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_rights.h"

#define SCARCE_BYTES 16384u /* of each stream, when all sockets have much */
#define PACKETS_MAX 1024u /* of SOCK_SEQPACKET: they may be empty */
#define WRITABLE_PART                                                           \
    3u /* this part of the limit must be free before a stream is writable again \
        */

static bool is_packets(const struct socket *s)
{
    return s->type == SOCK_SEQPACKET;
}

/* ---- room ---- */

static uint32_t limit_of(const struct socket *s, const struct socket *peer)
{
    uint32_t limit = socket_is_unix(s) ? (uint32_t)s->options.send_bytes
                                       : socket_option_stream_bytes(&s->options, &peer->options);

    return socket_queue_scarce() && limit > SCARCE_BYTES ? SCARCE_BYTES : limit;
}

static uint32_t room_of(const struct socket *s, const struct socket *peer)
{
    uint32_t limit = limit_of(s, peer);

    if (is_packets(s) && peer->in.packets >= PACKETS_MAX)
        return 0;
    return peer->in.bytes < limit ? limit - peer->in.bytes : 0;
}

void socket_stream_was_taken(struct socket *s, uint32_t before)
{
    struct socket *peer = s->peer;
    uint32_t limit, mark;

    if (peer == NULL || peer->closed)
        return;
    if (peer->outside)
        socket_outside_changed(peer);
    limit = limit_of(peer, s);
    mark = limit - limit / WRITABLE_PART;
    if (before > mark && s->in.bytes <= mark)
        socket_tell_writers(peer);
    else if (peer->writers)
        wait_wake_key(WAIT_KEY(&peer->writers), UINT32_MAX);
}

/* ---- sending ---- */

/* Returns 0 if s may send now, or -errno. */
static int64_t check_send(struct socket *s)
{
    if (s->error && !socket_is_unix(s))
        return socket_take_error(s);
    if (s->shut & SOCKET_SHUT_WRITE)
        return -EPIPE;
    if (s->state != SOCKET_CONNECTED)
        return socket_is_unix(s) ? -ENOTCONN : -EPIPE;
    return s->peer->closed && socket_is_unix(s) ? -EPIPE : 0;
}

/* Waits for room for `least` bytes.  Returns the room, or 0 if the peer was closed (TCP), or
 * -errno. */
static int64_t wait_room(struct thread *thread, struct socket *s, const struct socket_message *m,
                         uint32_t least, uint64_t *deadline)
{
    int64_t error = 0;

    for (;;) {
        int64_t status = check_send(s);
        uint32_t room;

        if (status)
            return status;
        if (s->peer->closed)
            return 0;
        room = room_of(s, s->peer);
        if (room >= least)
            return room;
        if (error)
            return error;
        if (*deadline == UINT64_MAX - 1)
            *deadline = socket_deadline(s, m->flags, true);
        error = socket_wait(thread, &s->writers, *deadline, "room in a socket");
    }
}

/* Adds bytes to the last packet if it takes more from this sender, or to a new one.  Returns how
 * many, or -errno. */
static int64_t add_some(struct socket_queue *q, struct socket_message *m, uint32_t bytes)
{
    struct socket_packet *last = q->last;
    bool new = last == NULL || last->whole || last->end == last->size ||
               last->rights.pid != m->rights.pid || m->rights.count;
    struct socket_packet *packet = new ? socket_packet_new(bytes, true) : last;
    uint32_t part;

    if (packet == NULL)
        return -ENOBUFS;
    part = packet->size - packet->end < bytes ? packet->size - packet->end : bytes;
    if (socket_bytes_take(&m->bytes, packet->data + packet->end, part) != 0) {
        if (new)
            socket_packet_free(packet);
        return -EFAULT;
    }
    packet->end += part;
    if (new) {
        packet->rights = m->rights;
        packet->whole = m->rights.count;
        m->rights = (struct socket_rights){.pid = m->rights.pid};
        socket_queue_add(q, packet);
    } else {
        q->bytes += part;
    }
    return part;
}

static int64_t add_bytes(struct socket *to, struct socket_message *m, uint64_t bytes)
{
    uint64_t done = 0;
    int64_t part = 0;

    while (done < bytes && part >= 0) {
        part = add_some(&to->in, m, (uint32_t)(bytes - done));
        if (part > 0)
            done += (uint64_t)part;
    }
    if (done && m->flags & MSG_OOB && (!socket_is_unix(to) || !m->bytes.left))
        socket_urgent_mark(to);
    if (done)
        socket_tell_readers(to, POLL_READABLE | POLLPRI);
    return done ? (int64_t)done : part;
}

/* A reset answers what is sent to a socket that was closed; the next call hears of it. */
static int64_t send_to_closed(struct socket *s, struct socket_message *m)
{
    int64_t done = (int64_t)m->bytes.left;

    s->error = EPIPE;
    s->shut = SOCKET_SHUT_BOTH;
    socket_tell_all(s);
    return done;
}

static int64_t send_bytes(struct thread *thread, struct socket *s, struct socket_message *m)
{
    uint64_t done = 0, deadline = UINT64_MAX - 1;

    do {
        int64_t status = wait_room(thread, s, m, 1, &deadline);

        if (status > 0)
            status = add_bytes(s->peer, m,
                               m->bytes.left < (uint64_t)status ? m->bytes.left : (uint64_t)status);
        else if (!status)
            status = send_to_closed(s, m);
        if (status < 0)
            return done ? (int64_t)done : status;
        done += (uint64_t)status;
        if (s->shut & SOCKET_SHUT_WRITE)
            break;
    } while (m->bytes.left);
    return (int64_t)done;
}

/* Sends one packet, whole. */
static int64_t send_packet(struct thread *thread, struct socket *s, struct socket_message *m)
{
    uint64_t deadline = UINT64_MAX - 1;
    uint64_t bytes = m->bytes.left;
    struct socket_packet *packet;
    int64_t status;
    int error;

    if (bytes > (uint64_t)s->options.send_bytes)
        return -EMSGSIZE;
    status = wait_room(thread, s, m, bytes ? (uint32_t)bytes : 1, &deadline);
    if (status < 0)
        return status;
    packet = socket_datagram_make(s, m, NULL, 0, &error);
    if (packet == NULL)
        return error;
    socket_queue_add(&s->peer->in, packet);
    socket_tell_readers(s->peer, POLL_READABLE);
    return (int64_t)bytes;
}

int64_t socket_stream_send(struct thread *thread, struct socket *s, struct socket_message *m)
{
    int64_t result;

    context_assert_thread();
    if (socket_urgent_refused(s, m))
        return -EOPNOTSUPP;
    if (is_packets(s))
        result = send_packet(thread, s, m);
    else if (m->name_bytes && socket_is_unix(s))
        result = s->state == SOCKET_CONNECTED ? -EISCONN : -EOPNOTSUPP;
    else
        result = m->bytes.left ? send_bytes(thread, s, m) : check_send(s);
    if (result == -EPIPE && !(m->flags & MSG_NOSIGNAL))
        signal_send(thread, SIGPIPE, SI_USER);
    return result;
}

/* ---- receiving ---- */

/* Waits until `least` bytes are there, for a call that has received `done`.  Returns 1, 0 at the
 * end or the mark of urgent data, or -errno. */
static int64_t wait_bytes(struct thread *thread, struct socket *s, const struct socket_message *m,
                          uint64_t least, uint64_t done)
{
    uint64_t deadline = UINT64_MAX - 1;
    int64_t error = 0;

    for (;;) {
        int64_t pass = socket_urgent_pass(thread, s, m, done);
        uint32_t ready = s->in.bytes - (m->bytes.left ? socket_urgent_hole(s) : 0);

        if (pass <= 0)
            return pass;
        if (s->in.packets && (ready >= least || socket_urgent_before(s) <= ready))
            return 1;
        if (s->fin && !socket_is_unix(s))
            return ready != 0;
        if (s->error)
            return ready ? 1 : socket_take_error(s);
        if (s->shut & SOCKET_SHUT_READ)
            return ready != 0;
        if (s->state != SOCKET_CONNECTED)
            return socket_is_unix(s) && !is_packets(s) ? -EINVAL : -ENOTCONN;
        if (error)
            return ready ? 1 : error;
        if (deadline == UINT64_MAX - 1)
            deadline = socket_deadline(s, m->flags, false);
        error = socket_wait(thread, &s->readers, deadline, "data from a socket");
    }
}

/* Copies one packet's part after `hole` bytes, `most` bytes at most.  Returns its bytes or -errno.
 */
static int64_t take_part(struct socket *s, struct socket_packet *packet, struct socket_message *m,
                         uint32_t hole, uint64_t most)
{
    uint32_t part = packet->end - packet->start - hole;
    int error;

    if (part > most)
        part = (uint32_t)most;
    if (part > m->bytes.left)
        part = (uint32_t)m->bytes.left;
    error = m->flags & MSG_TRUNC && !socket_is_unix(s)
                ? (m->bytes.left -= part, 0)
                : socket_bytes_put(&m->bytes, packet->data + packet->start + hole, part);
    if (!error)
        error = socket_rights_take(&m->rights, &packet->rights, m->flags & MSG_PEEK);
    if (error || m->flags & MSG_PEEK)
        return error ? error : (int64_t)part;
    packet->start += part;
    s->in.bytes -= part;
    return part;
}

/* Copies what is there, up to the mark of urgent data; MSG_PEEK may look over a byte that is left
 * out.  Files end a call, and another sender's bytes begin one. */
static int64_t take_bytes(struct socket *s, struct socket_message *m)
{
    struct socket_packet *packet = s->in.first;
    uint32_t before = s->in.bytes, most = socket_urgent_before(s), hole = socket_urgent_hole(s);
    uint64_t done = 0;
    int64_t part = 0;

    if (hole && packet->end - packet->start == hole) { /* all of it: MSG_PEEK looks over it */
        packet = packet->next;
        hole = 0;
    }
    while (packet != NULL && m->bytes.left && done < most) {
        struct socket_packet *next = packet->next;
        bool files = packet->rights.count;

        if (done && packet->rights.pid != m->rights.pid && s->options.pass_credentials)
            break;
        part = take_part(s, packet, m, hole, most - done);
        hole = 0;
        if (part < 0)
            break;
        done += (uint64_t)part;
        if (packet->start == packet->end)
            socket_packet_free(socket_queue_take(&s->in));
        packet = next;
        if (files)
            break;
    }
    if (done && !(m->flags & MSG_PEEK)) {
        socket_urgent_taken(s, done);
        socket_stream_was_taken(s, before);
    }
    return done ? (int64_t)done : part;
}

static int64_t receive_stream(struct thread *thread, struct socket *s, struct socket_message *m)
{
    uint64_t done = 0, least = (uint64_t)s->options.low_water;

    if (m->flags & MSG_OOB)
        return socket_urgent_receive(s, m);
    if (m->flags & MSG_PEEK && m->flags & MSG_WAITALL)
        least = m->bytes.left;
    if (least > m->bytes.left)
        least = m->bytes.left;
    for (;;) {
        int64_t part = wait_bytes(thread, s, m, least, done);

        if (part > 0)
            part = take_bytes(s, m);
        if (part <= 0)
            return done ? (int64_t)done : part;
        done += (uint64_t)part;
        if (!(m->flags & MSG_WAITALL) || m->flags & MSG_PEEK || !m->bytes.left || m->rights.count)
            return (int64_t)done;
    }
}

int64_t socket_stream_receive(struct thread *thread, struct socket *s, struct socket_message *m)
{
    uint32_t before = s->in.bytes;
    int64_t result;

    context_assert_thread();
    m->name_bytes = 0;
    if (!is_packets(s))
        return receive_stream(thread, s, m);
    result = m->flags & MSG_OOB ? -EOPNOTSUPP : wait_bytes(thread, s, m, 0, 0);
    if (result > 0)
        result = socket_datagram_take(s, m);
    if (result >= 0)
        socket_stream_was_taken(s, before);
    return result;
}

/* ---- readiness ---- */

uint32_t socket_stream_poll(const struct socket *s)
{
    uint32_t events = s->error ? POLLERR : 0;
    bool refused = s->state == SOCKET_NEW && s->error;
    bool ended = s->shut & SOCKET_SHUT_READ || s->fin || refused;
    bool both = ended && s->shut & SOCKET_SHUT_WRITE;
    uint32_t least = (uint32_t)s->options.low_water;

    if (s->state == SOCKET_LISTENS)
        return s->accepted.first != NULL ? POLL_READABLE : 0;
    if (s->state == SOCKET_CONNECTING)
        return events;
    if (both || s->state == SOCKET_NEW)
        events |= POLLHUP;
    if (ended)
        events |= POLL_READABLE | POLL_PEER_ENDED;
    if (s->urgent.state == SOCKET_URGENT_UNREAD)
        events |= POLLPRI;
    if (!socket_is_unix(s))
        least += socket_urgent_hole(s);
    if (s->in.packets && (is_packets(s) || s->in.bytes >= least))
        events |= POLL_READABLE;
    if (s->shut & SOCKET_SHUT_WRITE || s->state == SOCKET_NEW || s->peer->closed ||
        room_of(s, s->peer) >= limit_of(s, s->peer) / WRITABLE_PART)
        events |= POLL_WRITABLE | POLLWRBAND;
    return events;
}
