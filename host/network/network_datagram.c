/* UDP: clients of published ports, and flows of the guest's own. */
#include "host/network/network_datagram.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/network/network.h"

/* ---- clients ---- */

static bool same_address(const struct network_address *a, const struct network_address *b)
{
    return a->bytes == b->bytes && memcmp(&a->name, &b->name, a->bytes) == 0;
}

static struct network_client *client_by_port(const struct network_published *p, uint16_t port)
{
    for (uint32_t i = 0; i < NETWORK_CLIENTS; i++)
        if (p->clients[i].address.bytes != 0 && p->clients[i].port == port)
            return &p->clients[i];
    return NULL;
}

/* Returns the client with this address, or makes it, in the place of the one that rested longest.
 * Its port is the host's unless another client has that. */
static struct network_client *client_by_address(struct network_published *p,
                                                const struct network_address *address)
{
    struct network_client *oldest = &p->clients[0];
    uint16_t port = network_address_port(address);

    for (uint32_t i = 0; i < NETWORK_CLIENTS; i++) {
        struct network_client *c = &p->clients[i];

        if (same_address(&c->address, address))
            return c;
        if (c->used < oldest->used)
            oldest = c;
    }
    oldest->address.bytes = 0;
    while (port == 0 || client_by_port(p, port) != NULL)
        port++;
    oldest->address = *address;
    oldest->port = port;
    return oldest;
}

/* ---- flows ---- */

static struct network_flow *flow_of(struct network *n, uint16_t guest_port, int family)
{
    struct network_flow *oldest = &n->flows[0];

    for (uint32_t i = 0; i < NETWORK_FLOWS; i++) {
        struct network_flow *flow = &n->flows[i];

        if (flow->guest_port == guest_port && flow->family == family)
            return flow;
        if (flow->used < oldest->used)
            oldest = flow;
    }
    if (oldest->guest_port != 0)
        close(oldest->fd);
    *oldest = (struct network_flow){
        .fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), .family = family};
    if (oldest->fd < 0)
        return NULL;
    oldest->guest_port = guest_port;
    return oldest;
}

/* ---- from the guest ---- */

static void send_out(int fd, const struct network_address *to, const void *data, size_t bytes)
{
    (void)!sendto(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&to->name,
                  to->bytes);
}

static bool is_host(const struct run_network_frame *frame)
{
    struct run_network_frame host = {0};

    network_address_host(frame->port, &host);
    return memcmp(host.address, frame->address, sizeof host.address) == 0;
}

/* Answers a client of a published port.  Returns false if the datagram is for no such client. */
static bool send_to_client(struct network *n, const struct run_network_frame *frame,
                           const uint8_t *data)
{
    for (size_t i = 0; i < n->published_count; i++) {
        const struct network_published *p = &n->published[i];
        const struct network_client *c;

        if (!p->udp || p->guest_port != frame->guest_port || !is_host(frame))
            continue;
        c = client_by_port(p, frame->port);
        if (c == NULL)
            continue;
        send_out(p->fd, &c->address, data, frame->bytes);
        return true;
    }
    return false;
}

const char *network_datagram_take(struct network *n, const struct run_network_frame *frame,
                                  const uint8_t *data)
{
    struct network_address to;
    struct network_flow *flow;

    if (frame->bytes > RUN_NETWORK_DATAGRAM_MAX || frame->guest_port == 0)
        return "a datagram that cannot be";
    if (send_to_client(n, frame, data) || !n->user || network_address_to_host(frame, &to) != 0)
        return NULL;
    flow = flow_of(n, frame->guest_port, to.name.ss_family);
    if (flow == NULL)
        return NULL;
    flow->used = ++n->datagrams;
    flow->literal = !is_host(frame);
    send_out(flow->fd, &to, data, frame->bytes);
    return NULL;
}

/* ---- to the guest ---- */

/* Receives one into the port's frame.  Returns false if there is none. */
static bool receive(struct network *n, int fd, bool *readable, struct network_address *from)
{
    ssize_t got;

    from->bytes = sizeof from->name;
    memset(&from->name, 0, sizeof from->name);
    got = recvfrom(fd, n->port.out.data, RUN_NETWORK_DATAGRAM_MAX, MSG_DONTWAIT,
                   (struct sockaddr *)&from->name, &from->bytes);
    if (got < 0) {
        *readable = false;
        return false;
    }
    n->port.out.frame =
        (struct run_network_frame){.type = RUN_NETWORK_DATAGRAM, .bytes = (uint32_t)got};
    return true;
}

bool network_datagram_say(struct network *n, struct network_published *p)
{
    struct network_address from;
    struct network_client *c;

    if (!receive(n, p->fd, &p->readable, &from))
        return false;
    c = client_by_address(p, &from);
    c->used = ++p->used;
    network_address_host(c->port, &n->port.out.frame);
    n->port.out.frame.guest_port = p->guest_port;
    network_port_send(&n->port);
    return true;
}

/* Puts the loopback's address as it is. */
static void put_literal(const struct network_address *from, struct run_network_frame *frame)
{
    struct sockaddr_in name;

    memcpy(&name, &from->name, sizeof name);
    if (name.sin_family == AF_INET)
        memcpy(frame->address + 12, &name.sin_addr, sizeof name.sin_addr);
}

bool network_datagram_say_flow(struct network *n, struct network_flow *flow)
{
    struct network_address from;

    if (!receive(n, flow->fd, &flow->readable, &from))
        return false;
    network_address_to_guest(&from, &n->port.out.frame);
    if (flow->literal)
        put_literal(&from, &n->port.out.frame);
    n->port.out.frame.guest_port = flow->guest_port;
    network_port_send(&n->port);
    return true;
}
