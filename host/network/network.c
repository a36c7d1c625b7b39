/* The network's thread: waits, and lets everyone have a turn. */
#include "host/network/network.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"

#define WATCHES_MAX (2 + RUN_NETWORK_PUBLISHED_MAX + RUN_NETWORK_NUMBERS + NETWORK_FLOWS)
#define REST_NS 100000000ull /* after an accept that failed for want of descriptors */

struct watches { /* what one turn waits for, and whose descriptors those are */
    struct pollfd polled[WATCHES_MAX];
    struct network_published *published[WATCHES_MAX];
    struct network_connection *connections[WATCHES_MAX];
    struct network_flow *flows[WATCHES_MAX];
    nfds_t count;
};

static size_t watch(struct watches *w, int fd, short events)
{
    size_t i = w->count++;

    w->polled[i] = (struct pollfd){.fd = fd, .events = events};
    w->published[i] = NULL;
    w->connections[i] = NULL;
    w->flows[i] = NULL;
    return i;
}

static bool has_room(const struct network *n)
{
    for (uint32_t i = 0; i < RUN_NETWORK_CONNECTIONS; i++)
        if (n->connections[i].state == NETWORK_FREE)
            return true;
    return false;
}

static void watch_published(struct network *n, struct watches *w)
{
    bool room = has_room(n);
    uint64_t now_ns = monotonic_ns();

    for (size_t i = 0; i < n->published_count; i++) {
        struct network_published *p = &n->published[i];

        if (p->udp ? !p->readable : room && now_ns >= p->rest_until_ns)
            w->published[watch(w, p->fd, POLLIN)] = p;
    }
}

static void fill(struct network *n, struct watches *w)
{
    bool alive = n->port.fd >= 0;

    w->count = 0;
    watch(w, n->port.fd, network_port_free(&n->port) ? POLLIN : POLLIN | POLLOUT);
    watch(w, n->wake, POLLIN);
    if (alive)
        watch_published(n, w);
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++) {
        struct network_connection *c = &n->connections[i];
        short wants = c->fd >= 0 && c->state != NETWORK_FREE ? network_connection_wants(c) : 0;

        if (c->state != NETWORK_FREE && c->fd >= 0 && (wants != 0 || !c->hung))
            w->connections[watch(w, c->fd, wants)] = c;
    }
    for (uint32_t i = 0; alive && i < NETWORK_FLOWS; i++)
        if (n->flows[i].guest_port != 0 && !n->flows[i].readable)
            w->flows[watch(w, n->flows[i].fd, POLLIN)] = &n->flows[i];
}

static int time_left_ms(const struct network *n, int most_ms)
{
    uint64_t now_ns = monotonic_ns(), until_ns = network_port_deadline(&n->port);

    for (size_t i = 0; i < n->published_count; i++)
        if (n->published[i].rest_until_ns > now_ns && n->published[i].rest_until_ns < until_ns)
            until_ns = n->published[i].rest_until_ns;
    if (n->leave_ns != 0 && n->leave_ns < until_ns)
        until_ns = n->leave_ns;
    if (until_ns == UINT64_MAX)
        return most_ms;
    until_ns = until_ns > now_ns ? (until_ns - now_ns + 999999) / 1000000 : 0;
    return most_ms >= 0 && until_ns > (uint64_t)most_ms ? most_ms
           : until_ns > 60000                           ? 60000
                                                        : (int)until_ns;
}

static void accept_some(struct network *n, struct network_published *p)
{
    if (!network_connection_accept(n, p))
        p->rest_until_ns = monotonic_ns() + REST_NS;
}

static void handle(struct network *n, const struct watches *w)
{
    for (nfds_t i = 0; i < w->count; i++) {
        short events = w->polled[i].revents;

        if (events == 0)
            continue;
        if (w->published[i] != NULL && w->published[i]->udp)
            w->published[i]->readable = true;
        else if (w->published[i] != NULL)
            accept_some(n, w->published[i]);
        else if (w->connections[i] != NULL && w->connections[i]->fd == w->polled[i].fd)
            network_connection_handle(w->connections[i], events);
        else if (w->flows[i] != NULL)
            w->flows[i]->readable = true;
    }
}

/* ---- to and from the guest ---- */

/* Lets the next one that has something to say send a frame.  Returns false if no one has. */
static bool say(struct network *n)
{
    for (size_t i = 0; i < n->published_count; i++)
        if (n->published[i].readable && network_datagram_say(n, &n->published[i]))
            return true;
    for (uint32_t i = 0; i < NETWORK_FLOWS; i++)
        if (n->flows[i].guest_port != 0 && n->flows[i].readable &&
            network_datagram_say_flow(n, &n->flows[i]))
            return true;
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++) {
        n->turn = (n->turn + 1) % RUN_NETWORK_NUMBERS;
        if (n->connections[n->turn].state != NETWORK_FREE && network_connection_say(n, n->turn))
            return true;
    }
    return false;
}

static void say_all(struct network *n)
{
    network_port_flush(&n->port);
    while (network_port_free(&n->port) && say(n))
        continue;
    network_port_answer(&n->port);
}

const char *network_take(struct network *n, const struct run_network_frame *frame,
                         const uint8_t *data)
{
    if (frame->bytes != 0 && frame->type != RUN_NETWORK_DATA && frame->type != RUN_NETWORK_DATAGRAM)
        return "data where there are none";
    switch (frame->type) {
    case RUN_NETWORK_DATAGRAM:
        return network_datagram_take(n, frame, data);
    case RUN_NETWORK_WAIT:
        network_port_wait(&n->port, frame);
        return NULL;
    case RUN_NETWORK_OPEN:
    case RUN_NETWORK_OPENED:
    case RUN_NETWORK_REFUSED:
    case RUN_NETWORK_DATA:
    case RUN_NETWORK_CREDIT:
    case RUN_NETWORK_SHUT:
    case RUN_NETWORK_CLOSE:
    case RUN_NETWORK_RESET:
        return network_connection_take(n, frame, data);
    default:
        return "a frame of no known type";
    }
}

static void receive(struct network *n)
{
    int got = 0;

    while (n->bad == NULL && (got = network_port_receive(&n->port)) > 0)
        n->bad = network_take(n, &n->port.in.frame, n->port.in.data);
    if (got < 0)
        n->bad = "a frame that is too long";
    if (n->bad != NULL)
        n->port.fd = -1;
}

/* The guest has ended: what it sent still leaves, for a while.  Returns true while there is some.
 */
static bool leave(struct network *n)
{
    bool more = false;

    if (n->leave_ns == 0)
        n->leave_ns = monotonic_ns() + NETWORK_LEAVE_NS;
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++)
        if (n->connections[i].state != NETWORK_FREE)
            more |= network_connection_leave(&n->connections[i]);
    return more && n->bad == NULL && monotonic_ns() < n->leave_ns;
}

bool network_turn(struct network *n, int wait_ms)
{
    static _Thread_local struct watches w;

    say_all(n);
    if (n->port.fd < 0 && !leave(n))
        return false;
    fill(n, &w);
    if (poll(w.polled, w.count, time_left_ms(n, wait_ms)) < 0)
        return errno == EINTR;
    if (w.polled[1].revents != 0)
        return false;
    handle(n, &w);
    receive(n);
    return true;
}

/* ---- the thread ---- */

static void close_connections(struct network *n)
{
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++)
        network_connection_close(&n->connections[i]);
    for (uint32_t i = 0; i < NETWORK_FLOWS; i++)
        if (n->flows[i].guest_port != 0)
            close(n->flows[i].fd);
    memset(n->flows, 0, sizeof n->flows);
}

static void *run(void *argument)
{
    struct network *n = argument;

    while (network_turn(n, -1))
        continue;
    close_connections(n); /* clients need not wait for the end of the run */
    return NULL;
}

int network_start(struct network *n, int port)
{
    int error;

    network_port_init(&n->port, port);
    error = pthread_create(&n->thread, NULL, run, n);
    n->running = error == 0;
    return -error;
}

void network_stop(struct network *n, bool now)
{
    const uint64_t one = 1;

    if (!n->running)
        return;
    if (now && write(n->wake, &one, sizeof one) < 0)
        return; /* cannot be: the counter is not full */
    pthread_join(n->thread, NULL);
    n->running = false;
}

void network_close(struct network *n)
{
    network_stop(n, true);
    if (n->wake < 0)
        return;
    close_connections(n);
    for (size_t i = 0; i < n->published_count; i++) {
        close(n->published[i].fd);
        free(n->published[i].clients);
    }
    close(n->wake);
    n->published_count = 0;
    n->wake = -1;
}
