/* TCP with the outside: the table of connections, and their frames. */
#include "guest/socket/socket_outside.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "drivers/platform.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cross.h"
#include "guest/file/poll.h"
#include "guest/service/service.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_network.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_outside_state.h"

#define CREDIT_LEAST (RUN_NETWORK_WINDOW / 4) /* a smaller one is not worth a frame */
#define ERRNO_MAX 4095u
#define FRAMES_MAX 64 /* that a service CPU takes before it looks at the rings */
#define LEAVE_NS 5000000000ull /* of the host's, for what a program that ended left */

struct socket_outside_state socket_outside;

static struct connection { /* by its number: include/run_network.h */
    bool used;
    bool answers; /* the host's OPEN has no answer yet */
    bool shut, ended; /* SHUT was sent; CLOSE, RESET or REFUSED */
    struct socket *end; /* held: the outside's end; NULL: it is closed */
    struct socket *client; /* held: the program's socket, until the host answers OPEN */
    uint32_t credit; /* bytes that may be sent */
    uint32_t granted; /* bytes that the host may still send */
} * connections;

static struct connection *connection_of(const struct socket *s)
{
    return &connections[s->outside - 1];
}

/* ---- sending ---- */

void socket_outside_put(void)
{
    struct service_pause pause;

    if (socket_outside.serving || run_state.ending) { /* not the program's time */
        service_network_send();
        return;
    }
    service_pause(&pause);
    service_network_send();
    service_continue(&pause, HR_GAP_OUTPUT);
}

static struct run_network_frame *make_frame(const struct connection *c, uint32_t type)
{
    struct run_network_frame *frame = &service_network_out()->frame;

    *frame = (struct run_network_frame){.type = type, .connection = (uint32_t)(c - connections)};
    return frame;
}

static void put_frame(const struct connection *c, uint32_t type, uint32_t value)
{
    make_frame(c, type)->value = value;
    socket_outside_put();
}

static void put_end(struct connection *c, uint32_t type, uint32_t value)
{
    c->ended = true;
    put_frame(c, type, value);
}

/* Takes bytes out of a queue. */
static void take_bytes(struct socket_queue *q, uint8_t *to, uint32_t bytes)
{
    while (bytes) {
        struct socket_packet *packet = q->first;
        uint32_t part = packet->end - packet->start < bytes ? packet->end - packet->start : bytes;

        memcpy(to, packet->data + packet->start, part);
        to += part;
        bytes -= part;
        packet->start += part;
        q->bytes -= part;
        if (packet->start == packet->end)
            socket_packet_free(socket_queue_take(q));
    }
}

static void put_data(struct connection *c)
{
    struct socket *end = c->end;

    while (c->credit && end->in.bytes) {
        uint32_t before = end->in.bytes, part = before < c->credit ? before : c->credit;

        part = part < RUN_NETWORK_BYTES_MAX ? part : RUN_NETWORK_BYTES_MAX;
        make_frame(c, RUN_NETWORK_DATA)->bytes = part;
        take_bytes(&end->in, service_network_out()->data, part);
        c->credit -= part;
        socket_outside_put();
        socket_stream_was_taken(end, before);
    }
}

static void put_credit(struct connection *c)
{
    const struct socket *s = c->end->peer;
    uint32_t used = c->granted + s->in.bytes;
    uint32_t room = used < RUN_NETWORK_WINDOW ? RUN_NETWORK_WINDOW - used : 0;

    if (s->closed || room < CREDIT_LEAST)
        return;
    c->granted += room;
    put_frame(c, RUN_NETWORK_CREDIT, room);
}

/* A client of the outside's is accepted, or is not. */
static void put_answer(struct connection *c)
{
    if (c->end->state == SOCKET_CONNECTING)
        return;
    c->answers = false;
    if (c->end->state == SOCKET_CONNECTED)
        put_frame(c, RUN_NETWORK_OPENED, 0);
    else
        put_end(c, RUN_NETWORK_REFUSED, ECONNREFUSED);
}

/* Sends all that a connection has to say.  It keeps its objects: the host's CLOSE frees them. */
static void put_all(struct connection *c)
{
    const struct socket *end = c->end;

    if (c->ended || end == NULL)
        return;
    if (c->answers)
        put_answer(c);
    if (end->state != SOCKET_CONNECTED)
        return;
    put_data(c);
    if (end->error)
        put_end(c, RUN_NETWORK_RESET, 0);
    else if (!end->in.bytes && (end->peer->closed || socket_outside.leaving))
        put_end(c, RUN_NETWORK_CLOSE, 0);
    if (c->ended)
        return;
    if (!end->in.bytes && end->fin && !c->shut) {
        c->shut = true;
        put_frame(c, RUN_NETWORK_SHUT, 0);
    }
    put_credit(c);
}

void socket_outside_changed(struct socket *s)
{
    cross_assert_held();
    if (s->outside != SOCKET_OUTSIDE_DATAGRAMS)
        put_all(connection_of(s));
}

/* ---- the beginning and the end ---- */

static struct connection *begin(uint32_t number, struct socket *end)
{
    struct connection *c = &connections[number];

    *c = (struct connection){
        .used = true, .end = end, .credit = RUN_NETWORK_WINDOW, .granted = RUN_NETWORK_WINDOW};
    end->outside = number + 1;
    socket_outside.used++;
    return c;
}

/* The host's side of a connection is over: so is this one, and the number is free. */
static void finish(struct connection *c, bool reset)
{
    struct socket *end = c->end, *client = c->client;

    c->end = c->client = NULL;
    if (end != NULL) {
        end->outside = 0;
        end->resets = reset;
        socket_close(end);
    }
    if (client != NULL)
        socket_release(client);
    if (!c->ended)
        put_end(c, reset ? RUN_NETWORK_RESET : RUN_NETWORK_CLOSE, 0);
    c->used = false;
    socket_outside.used--;
}

/* Finds who listens at a published port, and under which address. */
static struct socket *find_listener(uint16_t port, const struct socket_address *from,
                                    struct socket_address *to)
{
    struct socket *listener = NULL;

    for (int i = 0; i < 3 && listener == NULL; i++) {
        if (i == 0)
            socket_outside_own(to, true);
        else
            socket_address_loopback(to, i == 1);
        to->port = port;
        listener = socket_inet_find(IPPROTO_TCP, to, from);
    }
    return listener;
}

static void take_client(const struct run_network_frame *frame)
{
    struct connection *c = &connections[frame->connection];
    struct socket_address from, to;
    struct socket *listener, *end;

    memcpy(from.bytes, frame->address, sizeof from.bytes);
    from.port = frame->port;
    listener = find_listener(frame->guest_port, &from, &to);
    end = listener != NULL ? socket_new(&socket_tcp, listener->domain, SOCK_STREAM, IPPROTO_TCP)
                           : NULL;
    if (end == NULL) {
        put_frame(c, RUN_NETWORK_REFUSED, listener == NULL ? ECONNREFUSED : ENOBUFS);
        return;
    }
    end->inet.local = from;
    end->inet.remote = to;
    c = begin(frame->connection, end);
    c->answers = true;
    socket_stream_begin(end, listener);
    put_all(c);
}

/* The host has connected, or has not. */
static void take_answer(struct connection *c, int error)
{
    struct socket *client = c->client, *end = c->end;
    bool wanted = client != NULL && client->outside == end->outside &&
                  client->state == SOCKET_CONNECTING && !client->closed;

    if (wanted) {
        client->outside = 0;
        client->state = SOCKET_NEW;
        client->error = error;
        if (!error)
            socket_stream_join(end, client);
        socket_tell_all(client);
    }
    if (error) {
        c->ended = true; /* nothing more is to be said */
        finish(c, false);
    } else if (!wanted) {
        put_end(c, RUN_NETWORK_RESET, 0);
    } else {
        c->client = NULL;
        socket_release(client);
        put_all(c);
    }
}

int64_t socket_outside_connect(struct thread *thread, struct socket *s,
                               const struct socket_address *to, uint64_t deadline)
{
    uint32_t number = RUN_NETWORK_CONNECTIONS;
    struct run_network_frame *frame;
    struct connection *c;
    struct socket *end;

    context_assert_thread();
    while (number < RUN_NETWORK_NUMBERS && connections[number].used)
        number++;
    end = number < RUN_NETWORK_NUMBERS
              ? socket_new(&socket_tcp, s->domain, SOCK_STREAM, IPPROTO_TCP)
              : NULL;
    if (end == NULL)
        return -ENOBUFS;
    end->inet.local = *to;
    end->inet.remote = s->inet.local;
    s->inet.remote = *to;
    s->state = SOCKET_CONNECTING;
    c = begin(number, end);
    c->client = s;
    s->outside = end->outside;
    socket_hold(s);
    frame = make_frame(c, RUN_NETWORK_OPEN);
    memcpy(frame->address, to->bytes, sizeof frame->address);
    frame->port = to->port;
    frame->guest_port = s->inet.local.port;
    socket_outside_put();
    return socket_stream_await(thread, s, deadline);
}

/* ---- what comes ---- */

/* Adds bytes to a queue.  Returns 0 or -ENOBUFS. */
static int add_bytes(struct socket_queue *q, const uint8_t *from, uint32_t bytes)
{
    while (bytes) {
        struct socket_packet *packet = q->last;
        uint32_t part;

        if (packet == NULL || packet->whole || packet->end == packet->size) {
            packet = socket_packet_new(bytes, true);
            if (packet == NULL)
                return -ENOBUFS;
            socket_queue_add(q, packet);
        }
        part = packet->size - packet->end < bytes ? packet->size - packet->end : bytes;
        memcpy(packet->data + packet->end, from, part);
        packet->end += part;
        q->bytes += part;
        from += part;
        bytes -= part;
    }
    return 0;
}

static void take_data(struct connection *c, const struct run_network_frame *frame,
                      const uint8_t *data)
{
    struct socket *s = c->end != NULL ? c->end->peer : NULL;

    if (s == NULL || s->closed)
        return;
    if (frame->bytes > c->granted || add_bytes(&s->in, data, frame->bytes) != 0) {
        c->end->resets = true;
        socket_stream_closed(c->end); /* the program's side sees a reset */
        put_end(c, RUN_NETWORK_RESET, 0);
        return;
    }
    c->granted -= frame->bytes;
    socket_tell_readers(s, POLL_READABLE);
}

/* Takes a frame of a connection that exists. */
static void take_frame(struct connection *c, const struct run_network_frame *frame,
                       const uint8_t *data)
{
    switch (frame->type) {
    case RUN_NETWORK_OPENED:
        if (c->client != NULL)
            take_answer(c, 0);
        break;
    case RUN_NETWORK_REFUSED:
        if (c->client != NULL)
            take_answer(c, frame->value && frame->value <= ERRNO_MAX ? (int)frame->value : EIO);
        break;
    case RUN_NETWORK_DATA:
        take_data(c, frame, data);
        break;
    case RUN_NETWORK_CREDIT:
        if (frame->value <= RUN_NETWORK_WINDOW - c->credit)
            c->credit += frame->value;
        put_all(c);
        break;
    case RUN_NETWORK_SHUT:
        if (c->end != NULL && c->end->peer != NULL && !c->end->peer->closed) {
            c->end->peer->fin = true;
            socket_tell_all(c->end->peer);
        }
        break;
    case RUN_NETWORK_CLOSE:
    case RUN_NETWORK_RESET:
        if (c->client != NULL)
            take_answer(c, ECONNRESET);
        else
            finish(c, frame->type == RUN_NETWORK_RESET);
        break;
    default: /* a newer host's */
        break;
    }
}

static void take_one(const struct service_network_frame *f)
{
    const struct run_network_frame *frame = &f->frame;

    if (frame->wait && frame->wait == socket_outside.wait.number) {
        socket_outside.wait.passed_ns = frame->time_ns;
        socket_outside.wait.over = frame->type == RUN_NETWORK_WAITED;
    }
    if (frame->type == RUN_NETWORK_DATAGRAM)
        socket_outside_datagram(frame, f->data);
    else if (frame->type == RUN_NETWORK_WAITED || frame->connection >= RUN_NETWORK_NUMBERS)
        return;
    else if (connections[frame->connection].used)
        take_frame(&connections[frame->connection], frame, f->data);
    else if (frame->type == RUN_NETWORK_OPEN && frame->connection < RUN_NETWORK_CONNECTIONS)
        take_client(frame);
}

static bool socket_outside_take(void)
{
    const struct service_network_frame *frame = service_network_receive();
    bool any = frame != NULL;

    context_assert_service();
    if (!any)
        return false;
    cross_lock(cpu_this());
    socket_outside.serving = true;
    for (int i = 1; frame != NULL; i++) {
        take_one(frame);
        frame = run.shared || i < FRAMES_MAX ? service_network_receive() : NULL;
    }
    socket_outside.serving = false;
    cross_unlock();
    return true;
}

/* ---- the end of the run ---- */

/* As when a Linux program has ended: what its sockets sent still leaves.  Returns true if there is
 * more of it. */
static bool leave(void)
{
    bool more = false;

    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++) {
        struct connection *c = &connections[i];

        put_all(c);
        more |= c->used && !c->ended && c->end != NULL && c->end->in.bytes;
    }
    return more;
}

static void socket_outside_finish(void)
{
    socket_outside.leaving = true;
    if (run_state.stop_signal || !leave())
        return;
    socket_outside_ask(LEAVE_NS);
    while (!socket_outside.wait.over && leave()) {
        service_cpu_poll();
        if (run_state.stop_signal)
            return;
        if (!socket_outside_take())
            platform_wait();
    }
}

void socket_outside_start(void)
{
    if (!service_network_offered())
        return;
    service_network_start();
    connections = platform_allocate(RUN_NETWORK_NUMBERS * sizeof *connections);
    if (connections == NULL)
        panic("no memory for the network's connections; give more with --mem");
    memset(connections, 0, RUN_NETWORK_NUMBERS * sizeof *connections);
    socket_outside_configure();
    service_network =
        (struct service_network){.take = socket_outside_take, .finish = socket_outside_finish};
}
