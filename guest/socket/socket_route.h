/* NETLINK_ROUTE: what programs ask about interfaces, addresses and routes.  Nothing can be changed
 * by it: EPERM, as for any user without privileges.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdint.h>

struct socket;

/* Answers the messages of one datagram: puts datagrams into the socket's queue. */
void socket_route_request(struct socket *s, const uint8_t *messages, uint32_t bytes);
