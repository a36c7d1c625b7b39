/* Ports and addresses of TCP and UDP. */
#include "guest/socket/socket_inet.h"

#include <errno.h>
#include <netinet/in.h>

#include "guest/base/context.h"
#include "guest/socket/socket.h"

#define BUCKETS 256u
#define OWN_FIRST 32768u /* /proc/sys/net/ipv4/ip_local_port_range */
#define OWN_PORTS 28232u

static struct socket *ports[BUCKETS];

static bool only_v6(const struct socket *s)
{
    return s->domain == AF_INET6 && s->options.only_v6;
}

void socket_inet_start(struct socket *s)
{
    socket_address_any(&s->inet.local, s->domain == AF_INET);
    s->inet.remote = s->inet.local;
}

static void enter_table(struct socket *s)
{
    struct socket **bucket = &ports[s->inet.local.port % BUCKETS];

    cross_assert_held();
    s->inet.bound = true;
    s->inet.next_bound = *bucket;
    *bucket = s;
}

void socket_inet_leave(struct socket *s)
{
    struct socket **at = &ports[s->inet.local.port % BUCKETS];

    if (!s->inet.bound)
        return;
    while (*at != s)
        at = &(*at)->inet.next_bound;
    *at = s->inet.next_bound;
    s->inet.bound = false;
}

void socket_inet_inherit(struct socket *s, const struct socket *client)
{
    s->inet.local = client->inet.remote;
    s->inet.remote = client->inet.local;
    enter_table(s);
}

/* Returns true if two sockets may have the same address. */
static bool may_share(const struct socket *s, const struct socket *other)
{
    bool listens = other->protocol == IPPROTO_TCP && other->state == SOCKET_LISTENS;

    return (s->options.reuse_address && other->options.reuse_address && !listens) ||
           (s->options.reuse_port && other->options.reuse_port);
}

static bool is_taken(const struct socket *s, const struct socket_address *address)
{
    const struct socket *other = ports[address->port % BUCKETS];

    for (; other != NULL; other = other->inet.next_bound)
        if (other != s && other->protocol == s->protocol &&
            other->inet.local.port == address->port && !may_share(s, other) &&
            socket_address_overlaps(address, only_v6(s), &other->inet.local, only_v6(other)))
            return true;
    return false;
}

static bool port_is_used(uint32_t protocol, uint32_t port)
{
    const struct socket *s = ports[port % BUCKETS];

    while (s != NULL && (s->protocol != protocol || s->inet.local.port != port))
        s = s->inet.next_bound;
    return s != NULL;
}

/* Returns a port that no socket has, or 0. */
static uint16_t free_port(uint32_t protocol)
{
    static uint32_t next;

    for (uint32_t i = 0; i < OWN_PORTS; i++) {
        uint32_t port = OWN_FIRST + next++ % OWN_PORTS;

        if (!port_is_used(protocol, port))
            return (uint16_t)port;
    }
    return 0;
}

/* The machine's address outside is one of its own. */
static enum socket_place place_of(const struct socket_address *a)
{
    return socket_outside_is_own(a) ? SOCKET_PLACE_HERE : socket_address_place(a);
}

int socket_inet_bind(struct socket *s, const struct socket_address *address)
{
    enum socket_place place = place_of(address);
    struct socket_address own = *address;

    if (s->inet.bound || s->state != SOCKET_NEW)
        return -EINVAL;
    if (place != SOCKET_PLACE_ANY && place != SOCKET_PLACE_HERE)
        return -EADDRNOTAVAIL;
    if (socket_address_is_v4(address) && only_v6(s))
        return -EINVAL;
    if (!own.port)
        own.port = free_port(s->protocol);
    if (!own.port || is_taken(s, &own))
        return -EADDRINUSE;
    s->inet.local = own;
    enter_table(s);
    return 0;
}

int socket_inet_bind_name(struct thread *, struct socket *s, const void *name, uint32_t bytes)
{
    struct socket_address address;
    int error = socket_address_read(&address, s->domain, name, bytes);
    const struct sockaddr_in *v4 = name;

    if (error == -EAFNOSUPPORT && s->domain == AF_INET && v4->sin_family == AF_UNSPEC &&
        !v4->sin_addr.s_addr) { /* older programs say so */
        socket_address_any(&address, true);
        address.port = __builtin_bswap16(v4->sin_port);
        error = 0;
    }
    return error ? error : socket_inet_bind(s, &address);
}

/* Binds to any address and a free port. */
static int bind_free(struct socket *s)
{
    struct socket_address any = s->inet.local;

    any.port = 0;
    return socket_inet_bind(s, &any);
}

int socket_inet_listen(struct thread *, struct socket *s)
{
    if (!s->inet.bound)
        return bind_free(s);
    return is_taken(s, &s->inet.local) ? -EADDRINUSE : 0;
}

uint32_t socket_inet_name(const struct socket *s, enum socket_whose whose, void *out)
{
    bool gone = s->file != NULL && /* accept names also a peer that is gone */
                s->peer != NULL && s->peer->closed && s->shut == SOCKET_SHUT_BOTH;

    if (whose == SOCKET_OWN)
        return socket_address_write(&s->inet.local, s->domain, out);
    if (s->state != SOCKET_CONNECTED || (gone && whose == SOCKET_PEER))
        return 0;
    return socket_address_write(&s->inet.remote, s->domain, out);
}

struct socket *socket_inet_find(uint32_t protocol, const struct socket_address *to,
                                const struct socket_address *from)
{
    static uint64_t turn;
    struct socket *found = NULL;
    uint32_t best = 0;

    for (struct socket *s = ports[to->port % BUCKETS]; s != NULL; s = s->inet.next_bound) {
        uint32_t fit;

        if (s->protocol != protocol || s->inet.local.port != to->port ||
            (protocol == IPPROTO_TCP && s->state != SOCKET_LISTENS))
            continue;
        fit = socket_address_fits(&s->inet.local, only_v6(s), to);
        if (fit && s->state == SOCKET_CONNECTED)
            fit = socket_address_equal(&s->inet.remote, from) ? fit + 4 : 0;
        if (fit > best || (fit && fit == best && s->inet.turn < found->inet.turn)) {
            found = s;
            best = fit;
        }
    }
    if (found != NULL && found->options.reuse_port)
        found->inet.turn = ++turn;
    return found;
}

int socket_inet_route(struct socket *s, struct socket_address *to, bool connects)
{
    enum socket_place place = place_of(to);
    bool v4 = socket_address_is_v4(to);
    int error;

    if (place == SOCKET_PLACE_BROADCAST && !s->options.broadcast)
        return -EACCES;
    if (place == SOCKET_PLACE_BROADCAST || place == SOCKET_PLACE_ELSEWHERE || (v4 && only_v6(s)))
        return -ENETUNREACH;
    error = s->inet.bound ? 0 : bind_free(s);
    if (error)
        return error == -EADDRINUSE ? -EADDRNOTAVAIL : error;
    if (place == SOCKET_PLACE_ANY)
        socket_address_loopback(to, v4);
    if (socket_address_place(&s->inet.local) == SOCKET_PLACE_ANY) {
        if (connects)
            socket_address_loopback(&s->inet.local, v4);
    } else if (socket_address_is_v4(&s->inet.local) != v4) {
        return -ENETUNREACH;
    }
    return 0;
}

int socket_inet_route_outside(struct socket *s, const struct socket_address *to, bool connects)
{
    bool v4 = socket_address_is_v4(to);
    enum socket_place place;
    int error;

    if (v4 && only_v6(s))
        return -ENETUNREACH;
    error = s->inet.bound ? 0 : bind_free(s);
    if (error)
        return error == -EADDRINUSE ? -EADDRNOTAVAIL : error;
    place = socket_address_place(&s->inet.local);
    if (place == SOCKET_PLACE_HERE)
        return -EINVAL; /* from the loopback nothing leaves */
    if (place == SOCKET_PLACE_ANY && connects)
        socket_outside_own(&s->inet.local, v4);
    return 0;
}

bool socket_inet_any(bool (*wants)(const struct socket *s))
{
    cross_assert_held();
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const struct socket *s = ports[i]; s != NULL; s = s->inet.next_bound)
            if (wants(s))
                return true;
    return false;
}
