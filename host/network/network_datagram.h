/* Datagrams between the guest and the outside, and the published ports of both protocols, in the
 * thread of host/network/network.c.
 *
 * A published port of UDP knows its latest clients by the port that the guest sees.  What the guest
 * sends from another port leaves through a flow, a socket of the host's for this port; the one that
 * rested longest makes room.  As in a network, what has no room is lost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/network/network_address.h"

struct network;

#define NETWORK_CLIENTS 256u
#define NETWORK_FLOWS 128u

struct network_client {
    struct network_address address; /* bytes 0: none */
    uint16_t port; /* by which the guest knows it */
    uint64_t used;
};

struct network_published {
    int fd; /* bound; TCP: listening */
    bool udp;
    bool chosen; /* the port was asked for as 0 */
    bool readable; /* UDP: a receive may give something */
    uint16_t port, guest_port;
    char address[48]; /* in figures */
    uint64_t rest_until_ns; /* TCP: accept failed, and is not tried before */
    struct network_client *clients; /* UDP: NETWORK_CLIENTS */
    uint64_t used; /* counts datagrams */
};

struct network_flow {
    int fd; /* with guest_port */
    uint16_t guest_port; /* 0: none */
    int family;
    bool readable;
    bool literal; /* the guest called the loopback by its own name, not RUN_NETWORK_HOST */
    uint64_t used;
};

/* Sends what the guest sent.  Returns NULL or what is wrong. */
const char *network_datagram_take(struct network *n, const struct run_network_frame *frame,
                                  const uint8_t *data);

/* Send one datagram to the guest if there is one; the port is free.  Return whether there was. */
bool network_datagram_say(struct network *n, struct network_published *p);
bool network_datagram_say_flow(struct network *n, struct network_flow *flow);
