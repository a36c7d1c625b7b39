/* The interfaces' addresses and the routes to them, as NETLINK_ROUTE shows them.  They never
 * change. Context: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SOCKET_ROUTE_LO 1 /* numbers of interfaces */
#define SOCKET_ROUTE_ETH0 2
#define SOCKET_ROUTE_ADDRESSES 4u
#define SOCKET_ROUTES 10u

struct socket_route_address {
    uint8_t family, prefix, scope;
    uint8_t interface;
    uint8_t bytes[16];
    uint8_t broadcast[4];
};

struct socket_route {
    uint8_t family, prefix, table, type, scope, protocol;
    uint8_t interface;
    bool user; /* only with --network user */
    uint8_t to[16];
    uint8_t gateway[4];
};

extern const struct socket_route_address socket_route_addresses[SOCKET_ROUTE_ADDRESSES];

/* Of IPv4 the source follows from the interface. */
extern const struct socket_route socket_routes[SOCKET_ROUTES];
