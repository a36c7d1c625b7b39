/* Addresses of AF_INET and AF_INET6 in one form: those of IPv4 are ::ffff:a.b.c.d.  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct socket_address {
    uint8_t bytes[16];
    uint16_t port; /* of the host's byte order */
};

enum socket_place {
    SOCKET_PLACE_ANY, /* 0.0.0.0 or :: */
    SOCKET_PLACE_HERE, /* 127.0.0.0/8 or ::1 */
    SOCKET_PLACE_BROADCAST, /* 255.255.255.255 */
    SOCKET_PLACE_ELSEWHERE
};

enum socket_place socket_address_place(const struct socket_address *a);
bool socket_address_is_v4(const struct socket_address *a);
bool socket_address_equal(const struct socket_address *a, const struct socket_address *b);

/* Sets the address, not the port, to 0.0.0.0 or ::, or to 127.0.0.1 or ::1. */
void socket_address_any(struct socket_address *a, bool v4);
void socket_address_loopback(struct socket_address *a, bool v4);

/* Returns how well a socket bound to `bound` fits what is sent to `to`: 0 not at all, most if it is
 * bound to just that address.  `only_v6`: its IPV6_V6ONLY.  Ports are not looked at. */
uint32_t socket_address_fits(const struct socket_address *bound, bool only_v6,
                             const struct socket_address *to);

/* Returns true if something could be sent to both. */
bool socket_address_overlaps(const struct socket_address *a, bool a_only_v6,
                             const struct socket_address *b, bool b_only_v6);

/* Reads a struct sockaddr_in or sockaddr_in6.  Returns 0, -EINVAL or -EAFNOSUPPORT. */
int socket_address_read(struct socket_address *a, uint32_t domain, const void *name,
                        uint32_t bytes);

/* Writes one for sockets of a domain.  Returns its length. */
uint32_t socket_address_write(const struct socket_address *a, uint32_t domain, void *name);
