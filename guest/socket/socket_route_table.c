/* Tables of addresses and routes. */
#include "guest/socket/socket_route_table.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define LO SOCKET_ROUTE_LO
#define ETH0 SOCKET_ROUTE_ETH0

const struct socket_route_address socket_route_addresses[SOCKET_ROUTE_ADDRESSES] = {
    {AF_INET, 8, RT_SCOPE_HOST, LO, {127, 0, 0, 1}, {0}},
    {AF_INET, 24, RT_SCOPE_UNIVERSE, ETH0, {10, 0, 2, 15}, {10, 0, 2, 255}},
    {AF_INET6, 128, RT_SCOPE_HOST, LO, {[15] = 1}, {0}},
    {AF_INET6, 64, RT_SCOPE_UNIVERSE, ETH0, {0xfd, [12] = 10, 0, 2, 15}, {0}},
};

#define ROUTE(family, prefix, table, type, scope, protocol, interface)                      \
    AF_##family, prefix, RT_TABLE_##table, RTN_##type, RT_SCOPE_##scope, RTPROT_##protocol, \
        interface

const struct socket_route socket_routes[SOCKET_ROUTES] = {
    {ROUTE(INET, 0, MAIN, UNICAST, UNIVERSE, BOOT, ETH0), .user = true, .gateway = {10, 0, 2, 2}},
    {ROUTE(INET, 24, MAIN, UNICAST, LINK, KERNEL, ETH0), .to = {10, 0, 2, 0}},
    {ROUTE(INET, 32, LOCAL, LOCAL, HOST, KERNEL, ETH0), .to = {10, 0, 2, 15}},
    {ROUTE(INET, 32, LOCAL, BROADCAST, LINK, KERNEL, ETH0), .to = {10, 0, 2, 255}},
    {ROUTE(INET, 8, LOCAL, LOCAL, HOST, KERNEL, LO), .to = {127, 0, 0, 0}},
    {ROUTE(INET, 32, LOCAL, LOCAL, HOST, KERNEL, LO), .to = {127, 0, 0, 1}},
    {ROUTE(INET, 32, LOCAL, BROADCAST, LINK, KERNEL, LO), .to = {127, 255, 255, 255}},
    {ROUTE(INET6, 128, LOCAL, LOCAL, UNIVERSE, KERNEL, LO), .to = {[15] = 1}},
    {ROUTE(INET6, 64, MAIN, UNICAST, UNIVERSE, KERNEL, ETH0), .to = {0xfd}},
    {ROUTE(INET6, 128, LOCAL, LOCAL, UNIVERSE, KERNEL, ETH0), .to = {0xfd, [12] = 10, 0, 2, 15}},
};
