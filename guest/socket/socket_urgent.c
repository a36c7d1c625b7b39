/* Urgent data, with the rules of Linux for TCP and for streams of AF_UNIX. */
#include "guest/socket/socket_urgent.h"

#include <errno.h>
#include <signal.h>

#include "guest/base/context.h"
#include "guest/file/file_owner.h"
#include "guest/signal/signal.h"
#include "guest/socket/socket.h"

bool socket_urgent_refused(const struct socket *s, const struct socket_message *m)
{
    if (!(m->flags & MSG_OOB))
        return false;
    if (socket_is_unix(s))
        return s->type != SOCK_STREAM || !m->bytes.left;
    return s->peer != NULL && s->peer->outside; /* the host is told of bytes only */
}

/* TCP gives up an urgent byte that a reader has reached, AF_UNIX one that was read. */
static bool is_given_up(const struct socket *s)
{
    const struct socket_urgent *u = &s->urgent;

    if (socket_is_unix(s))
        return u->state == SOCKET_URGENT_READ;
    return u->state && !u->ahead && !s->options.urgent_inline;
}

void socket_urgent_mark(struct socket *to)
{
    const struct socket_packet *last = to->in.last;
    bool given_up = is_given_up(to);
    uint32_t before = to->urgent.ahead;

    cross_assert_held();
    to->urgent = (struct socket_urgent){.ahead = to->in.bytes - 1 - given_up,
                                        .state = SOCKET_URGENT_UNREAD,
                                        .byte = last->data[last->end - 1]};
    if (given_up)
        socket_queue_drop(&to->in, before);
    if (to->file != NULL)
        file_owner_signal(to->file, SIGURG);
}

int64_t socket_urgent_receive(struct socket *s, struct socket_message *m)
{
    struct socket_urgent *u = &s->urgent;

    context_assert_thread();
    if (s->state == SOCKET_LISTENS && !socket_is_unix(s))
        return -ENOTCONN;
    if (s->options.urgent_inline || u->state != SOCKET_URGENT_UNREAD)
        return -EINVAL;
    if (!(m->flags & MSG_PEEK))
        u->state = SOCKET_URGENT_READ;
    m->got |= MSG_OOB;
    if (!m->bytes.left) {
        m->got |= MSG_TRUNC;
        return socket_is_unix(s) ? -EFAULT : 0;
    }
    if (m->flags & MSG_TRUNC && !socket_is_unix(s))
        return 1;
    return socket_bytes_put(&m->bytes, &u->byte, 1) == 0 ? 1 : -EFAULT;
}

bool socket_urgent_at_mark(const struct socket *s)
{
    return s->urgent.state && !s->urgent.ahead;
}

uint32_t socket_urgent_hole(const struct socket *s)
{
    bool gone = socket_is_unix(s) && s->urgent.state == SOCKET_URGENT_READ;

    return socket_urgent_at_mark(s) && (gone || !s->options.urgent_inline);
}

uint32_t socket_urgent_before(const struct socket *s)
{
    return s->urgent.state && s->urgent.ahead ? s->urgent.ahead : UINT32_MAX;
}

uint32_t socket_urgent_ready(const struct socket *s)
{
    if (socket_is_unix(s))
        return s->in.bytes - (s->urgent.state == SOCKET_URGENT_READ);
    return s->urgent.state && !s->options.urgent_inline ? s->urgent.ahead : s->in.bytes;
}

int64_t socket_urgent_pass(struct thread *thread, struct socket *s, const struct socket_message *m,
                           uint64_t done)
{
    uint32_t before = s->in.bytes;

    if (!socket_urgent_at_mark(s))
        return 1;
    if (done)
        return 0;
    if (!socket_is_unix(s) && signal_deliverable(thread))
        return m->flags & MSG_DONTWAIT ? -EAGAIN : -EINTR;
    if (socket_urgent_hole(s) && m->bytes.left && !(m->flags & MSG_PEEK)) {
        s->urgent.state = SOCKET_URGENT_NONE;
        socket_queue_drop(&s->in, 0);
        socket_stream_was_taken(s, before);
    }
    return 1;
}

void socket_urgent_taken(struct socket *s, uint64_t bytes)
{
    struct socket_urgent *u = &s->urgent;

    if (bytes > u->ahead)
        u->state = SOCKET_URGENT_NONE;
    else
        u->ahead -= (uint32_t)bytes;
}
