/* AF_INET and AF_INET6 on the loopback: the table of ports.
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/socket/socket_address.h"

struct socket;
struct thread;

/* Whose name a call asks for. */
enum socket_whose {
    SOCKET_OWN,
    SOCKET_PEER,
    SOCKET_PEER_EVER /* also of one that was reset */
};

struct socket_inet {
    struct socket_address local, remote;
    bool bound; /* it is in the table */
    uint64_t turn; /* those that share a port get connections in turn: the last one's number */
    struct socket *next_bound; /* in its bucket */
};

void socket_inet_start(struct socket *s); /* gives a new socket no address of its family */

/* Gives what a listener accepts the addresses of a connection to `client`. */
void socket_inet_inherit(struct socket *s, const struct socket *client);

/* Binds to an address; port 0: to a free one.  Returns 0, -EADDRINUSE, -EADDRNOTAVAIL or -EINVAL.
 */
int socket_inet_bind(struct socket *s, const struct socket_address *address);
int socket_inet_bind_name(struct thread *thread, struct socket *s, const void *name,
                          uint32_t bytes);
int socket_inet_listen(struct thread *thread, struct socket *s);
void socket_inet_leave(struct socket *s);
uint32_t socket_inet_name(const struct socket *s, enum socket_whose whose, void *out);

/* Finds who gets what is sent to an address; NULL: there is none.  A socket of UDP that is
 * connected gets only what `from` sends. */
struct socket *socket_inet_find(uint32_t protocol, const struct socket_address *to,
                                const struct socket_address *from);

/* Gives s an address to send from to `to`, which may be changed from "any" to the loopback.
 * Returns 0, -ENETUNREACH, -EACCES (broadcast) or -EADDRNOTAVAIL. */
int socket_inet_route(struct socket *s, struct socket_address *to, bool connects);

/* socket_inet_route for what socket_outside_covers. */
int socket_inet_route_outside(struct socket *s, const struct socket_address *to, bool connects);

/* Returns true if there is a socket in the table that `wants` returns true for. */
bool socket_inet_any(bool (*wants)(const struct socket *s));
