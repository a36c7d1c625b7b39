/* Moves bytes between a machine's socket and its connection. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/units.h"
#include "host/collect/stream_client.h"

#define HELLO_NS (10 * UNITS_SECOND) /* limit for the hello */
#define CLOSING_NS (3 * UNITS_SECOND) /* limit until the machine has read the last answer */
#define ACK_BYTES (CLIENT_READ_BYTES / 2)
#define ACK_NS 50000000ull

struct client *stream_client_new(int fd, const char *peer, uint64_t now_ns)
{
    struct client *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->fd = fd;
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    c->since_ns = c->heard_ns = c->acked_ns = now_ns;
    return c;
}

void stream_client_free(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->run);
    free(c);
}

short stream_client_wants(const struct client *c)
{
    short wants = c->connection.out_bytes > 0 ? POLLOUT : 0;

    if (c->connection.state != CONNECTION_OPENING && c->connection.state != CONNECTION_FINISHING)
        wants |= POLLIN;
    return wants;
}

ssize_t stream_client_receive(struct client *c, const char *token, uint64_t now_ns)
{
    static uint8_t bytes[CLIENT_READ_BYTES];
    ssize_t count = recv(c->fd, bytes, sizeof bytes, 0);

    if (count <= 0)
        return count < 0 ? -errno : 0;
    c->heard_ns = now_ns;
    stream_connection_take(&c->connection, token, bytes, (size_t)count);
    if (c->connection.state == CONNECTION_FRAMES && c->run->bytes != c->fresh_bytes) {
        c->fresh_bytes = c->run->bytes;
        c->fresh_ns = now_ns;
    }
    return count;
}

static bool is_ack_due(const struct client *c, uint64_t now_ns)
{
    uint64_t unacked = stream_connection_unacked(&c->connection);

    return unacked >= ACK_BYTES || (unacked > 0 && now_ns - c->acked_ns >= ACK_NS);
}

int stream_client_send(struct client *c, uint64_t now_ns)
{
    struct connection *connection = &c->connection;
    ssize_t sent;

    if (is_ack_due(c, now_ns) && connection->out_bytes == 0) {
        stream_connection_ack(connection);
        c->acked_ns = now_ns;
    }
    if (connection->state == CONNECTION_CLOSING && c->closing_ns == 0)
        c->closing_ns = now_ns;
    if (connection->out_bytes > 0) {
        sent = send(c->fd, connection->out, connection->out_bytes, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        stream_connection_sent(connection, (size_t)sent);
    }
    /* Closing immediately would discard the answer, together with the machine's unread bytes. */
    if (connection->state == CONNECTION_CLOSING && connection->out_bytes == 0 && !c->is_shut) {
        c->is_shut = true;
        if (shutdown(c->fd, SHUT_WR) != 0)
            return -errno;
    }
    return 0;
}

static uint64_t state_deadline(const struct client *c, uint64_t idle_ns)
{
    switch (c->connection.state) {
    case CONNECTION_HELLO:
        return c->since_ns + HELLO_NS;
    case CONNECTION_FRAMES:
        return c->heard_ns + idle_ns;
    case CONNECTION_CLOSING:
        return c->closing_ns != 0 ? c->closing_ns + CLOSING_NS : UINT64_MAX; /* not closing yet */
    default:
        return UINT64_MAX;
    }
}

uint64_t stream_client_deadline(const struct client *c, uint64_t idle_ns)
{
    uint64_t deadline = state_deadline(c, idle_ns);

    if (stream_connection_unacked(&c->connection) > 0 && c->connection.out_bytes == 0 &&
        c->acked_ns + ACK_NS < deadline)
        deadline = c->acked_ns + ACK_NS;
    return deadline;
}

const char *stream_client_overdue(const struct client *c, uint64_t idle_ns, uint64_t now_ns)
{
    if (now_ns < state_deadline(c, idle_ns))
        return NULL;
    return c->connection.state == CONNECTION_FRAMES ? "silent for too long" : "no hello in time";
}

bool stream_client_same_run(const struct client *a, const struct client *b)
{
    const struct run_hello *x = &a->connection.hello, *y = &b->connection.hello;

    return memcmp(x->id, y->id, sizeof x->id) == 0 && strcmp(x->machine, y->machine) == 0 &&
           strcmp(x->run, y->run) == 0;
}
