/* Connections: how they begin, move bytes and end. */
#include "host/network/network_connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/network/network.h"
#include "host/network/network_address.h"

#define CREDIT_LEAST (RUN_NETWORK_WINDOW / 4) /* a smaller one is not worth a frame */

/* ---- the end ---- */

static void free_number(struct network_connection *c)
{
    free(c->buffer);
    *c = (struct network_connection){.fd = -1};
}

static void close_fd(struct network_connection *c, bool reset)
{
    const struct linger at_once = {.l_onoff = 1};

    if (c->fd < 0)
        return;
    if (reset)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(c->fd);
    c->fd = -1;
    c->count = 0;
    c->at_end = true;
    c->readable = false;
}

void network_connection_close(struct network_connection *c)
{
    close_fd(c, true);
    free_number(c);
}

/* The host's side is over: says so, unless it did. */
static void end_here(struct network_connection *c, uint32_t how)
{
    close_fd(c, how == RUN_NETWORK_RESET);
    if (!c->ended)
        c->says = how;
}

/* The outside failed.  An attempt to connect is refused. */
static void fail(struct network_connection *c, int error)
{
    if (c->state == NETWORK_CONNECTING) {
        c->error = error;
        end_here(c, RUN_NETWORK_REFUSED);
    } else {
        end_here(c, RUN_NETWORK_RESET);
    }
}

/* Call when something of it has ended. */
static void look_at_end(struct network_connection *c)
{
    if (c->guest_ended && c->count == 0 && c->fd >= 0)
        end_here(c, RUN_NETWORK_CLOSE);
    else if (c->shut && c->count == 0 && c->fd >= 0)
        (void)shutdown(c->fd, SHUT_WR);
}

/* ---- the beginning ---- */

static struct network_connection *begin(struct network *n, uint32_t number, int fd)
{
    struct network_connection *c = &n->connections[number];
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *c = (struct network_connection){
        .fd = fd, .allowed = RUN_NETWORK_WINDOW, .credit = RUN_NETWORK_WINDOW};
    return c;
}

bool network_connection_accept(struct network *n, const struct network_published *p)
{
    struct network_address client = {.bytes = sizeof client.name};
    uint32_t number = 0;
    struct network_connection *c;
    int fd;

    while (number < RUN_NETWORK_CONNECTIONS && n->connections[number].state != NETWORK_FREE)
        number++;
    if (number == RUN_NETWORK_CONNECTIONS)
        return true;
    fd = accept4(p->fd, (struct sockaddr *)&client.name, &client.bytes,
                 SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    c = begin(n, number, fd);
    c->state = NETWORK_OPENING;
    c->says = RUN_NETWORK_OPEN;
    c->guest_port = p->guest_port;
    c->port = network_address_port(&client);
    return true;
}

static void connect_out(struct network *n, const struct run_network_frame *frame)
{
    struct network_address to;
    struct network_connection *c;
    int error = n->user ? network_address_to_host(frame, &to) : ENETUNREACH;
    int fd =
        error == 0 ? socket(to.name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;

    if (error == 0 && fd < 0)
        error = errno == EAFNOSUPPORT ? ENETUNREACH : errno;
    c = begin(n, frame->connection, fd);
    c->state = NETWORK_CONNECTING;
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to.name, to.bytes) != 0 &&
        errno != EINPROGRESS)
        error = errno;
    if (error != 0)
        fail(c, error);
}

/* The connection that connect began is there, or is not. */
static void finish_connect(struct network_connection *c)
{
    int error = 0;
    socklen_t bytes = sizeof error;

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
        error = errno;
    if (error != 0) {
        fail(c, error);
        return;
    }
    c->state = NETWORK_OPEN;
    c->says = RUN_NETWORK_OPENED;
    c->readable = true;
    look_at_end(c);
}

/* ---- from the guest ---- */

/* Writes what it can.  What the outside no longer takes is lost with the connection. */
static void write_out(struct network_connection *c)
{
    while (c->fd >= 0 && c->count != 0) {
        ssize_t sent = send(c->fd, c->buffer + c->start, c->count, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0) {
            fail(c, errno);
            return;
        }
        c->start += (uint32_t)sent;
        c->count -= (uint32_t)sent;
        c->owed += (uint32_t)sent;
    }
    c->start = 0;
    look_at_end(c);
}

static const char *take_data(struct network_connection *c, const struct run_network_frame *frame,
                             const uint8_t *data)
{
    if (frame->bytes == 0 || frame->bytes > c->allowed || c->shut || c->state != NETWORK_OPEN)
        return "data that is not allowed";
    c->allowed -= frame->bytes;
    if (c->fd < 0)
        return NULL;
    if (c->buffer == NULL)
        c->buffer = malloc(RUN_NETWORK_WINDOW);
    if (c->buffer == NULL) {
        fail(c, ENOMEM);
        return NULL;
    }
    if (c->start + c->count + frame->bytes > RUN_NETWORK_WINDOW) {
        memmove(c->buffer, c->buffer + c->start, c->count);
        c->start = 0;
    }
    memcpy(c->buffer + c->start + c->count, data, frame->bytes);
    c->count += frame->bytes;
    write_out(c);
    return NULL;
}

static void take_end(struct network_connection *c, bool reset)
{
    c->guest_ended = true;
    if (c->says == RUN_NETWORK_REFUSED)
        return; /* which ends it, too */
    if (reset || c->state != NETWORK_OPEN)
        end_here(c, reset ? RUN_NETWORK_RESET : RUN_NETWORK_CLOSE);
    else
        look_at_end(c);
    if (c->ended)
        free_number(c);
}

static const char *take_open(struct network *n, const struct run_network_frame *frame)
{
    if (frame->connection < RUN_NETWORK_CONNECTIONS ||
        n->connections[frame->connection].state != NETWORK_FREE)
        return "a connection with a number that is not free";
    connect_out(n, frame);
    return NULL;
}

static const char *take_answer(struct network_connection *c, bool opened)
{
    if (c->state != NETWORK_OPENING || c->says == RUN_NETWORK_OPEN)
        return "an answer to no client";
    if (!opened) {
        network_connection_close(c);
        return NULL;
    }
    c->state = NETWORK_OPEN;
    c->readable = true;
    return NULL;
}

const char *network_connection_take(struct network *n, const struct run_network_frame *frame,
                                    const uint8_t *data)
{
    struct network_connection *c;
    bool ends = frame->type == RUN_NETWORK_CLOSE || frame->type == RUN_NETWORK_RESET;

    if (frame->connection >= RUN_NETWORK_NUMBERS)
        return "the number of no connection";
    c = &n->connections[frame->connection];
    if (frame->type == RUN_NETWORK_OPEN)
        return take_open(n, frame);
    if (c->state == NETWORK_FREE)
        return ends ? NULL : "a frame of no connection";
    if (c->guest_ended)
        return "a frame of a connection that has ended";
    switch (frame->type) {
    case RUN_NETWORK_OPENED:
    case RUN_NETWORK_REFUSED:
        return take_answer(c, frame->type == RUN_NETWORK_OPENED);
    case RUN_NETWORK_DATA:
        return take_data(c, frame, data);
    case RUN_NETWORK_CREDIT:
        if (frame->value > RUN_NETWORK_WINDOW - c->credit)
            return "more credit than there is room for";
        c->credit += frame->value;
        return NULL;
    case RUN_NETWORK_SHUT:
        c->shut = true;
        look_at_end(c);
        return NULL;
    default:
        take_end(c, frame->type == RUN_NETWORK_RESET);
        return NULL;
    }
}

/* ---- readiness ---- */

static bool reads(const struct network_connection *c)
{
    return c->state == NETWORK_OPEN && c->credit != 0 && !c->at_end && !c->guest_ended;
}

short network_connection_wants(const struct network_connection *c)
{
    if (c->state == NETWORK_CONNECTING || c->count != 0)
        return reads(c) && !c->readable ? POLLOUT | POLLIN : POLLOUT;
    return reads(c) && !c->readable ? POLLIN : 0;
}

static void look_at_error(struct network_connection *c)
{
    int error = 0;
    socklen_t bytes = sizeof error;

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error != 0)
        fail(c, error);
}

void network_connection_handle(struct network_connection *c, short events)
{
    if (c->state == NETWORK_CONNECTING) {
        finish_connect(c);
        return;
    }
    if (events & POLLERR)
        look_at_error(c);
    if (c->fd < 0)
        return;
    if (events & POLLOUT)
        write_out(c);
    if (events & (POLLIN | POLLHUP))
        c->readable = true;
    c->hung |= (events & POLLHUP) != 0;
}

/* ---- to the guest ---- */

static bool send_frame(struct network *n, uint32_t number, uint32_t type, uint32_t value)
{
    n->port.out.frame =
        (struct run_network_frame){.type = type, .connection = number, .value = value};
    network_port_send(&n->port);
    return true;
}

/* Says what is in `says`.  An OPEN has an address; after REFUSED, or when both have ended, the
 * number is free. */
static bool say_state(struct network *n, uint32_t number)
{
    struct network_connection *c = &n->connections[number];
    struct run_network_frame *frame = &n->port.out.frame;
    uint32_t says = c->says;

    *frame = (struct run_network_frame){.type = says,
                                        .connection = number,
                                        .value = (uint32_t)c->error,
                                        .guest_port = c->guest_port};
    if (says == RUN_NETWORK_OPEN)
        network_address_host(c->port, frame);
    c->says = 0;
    network_port_send(&n->port);
    if (says == RUN_NETWORK_CLOSE || says == RUN_NETWORK_RESET)
        c->ended = true;
    if (says == RUN_NETWORK_REFUSED || (c->ended && c->guest_ended))
        free_number(c);
    return true;
}

static bool say_data(struct network *n, uint32_t number)
{
    struct network_connection *c = &n->connections[number];
    uint32_t most = c->credit < RUN_NETWORK_BYTES_MAX ? c->credit : RUN_NETWORK_BYTES_MAX;
    ssize_t got = recv(c->fd, n->port.out.data, most, MSG_DONTWAIT);

    if (got > 0) {
        n->port.out.frame = (struct run_network_frame){
            .type = RUN_NETWORK_DATA, .connection = number, .bytes = (uint32_t)got};
        c->credit -= (uint32_t)got;
        network_port_send(&n->port);
        return true;
    }
    c->readable = false;
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
        fail(c, errno);
        return say_state(n, number);
    }
    if (got < 0)
        return false;
    c->at_end = true;
    return send_frame(n, number, RUN_NETWORK_SHUT, 0);
}

bool network_connection_say(struct network *n, uint32_t number)
{
    struct network_connection *c = &n->connections[number];

    if (c->says != 0)
        return say_state(n, number);
    if (c->state != NETWORK_OPEN || c->ended)
        return false;
    if (!c->shut && !c->guest_ended && c->owed >= CREDIT_LEAST) {
        uint32_t owed = c->owed;

        c->owed = 0;
        c->allowed += owed;
        return send_frame(n, number, RUN_NETWORK_CREDIT, owed);
    }
    return reads(c) && c->readable && say_data(n, number);
}

bool network_connection_leave(struct network_connection *c)
{
    c->guest_ended = true;
    if (c->count == 0)
        close_fd(c, false);
    return c->fd >= 0;
}
