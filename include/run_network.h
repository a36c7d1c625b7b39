/* The network outside of the guest: frames over the port RUN_PORT_NETWORK.
 *
 * There are no packets.  The host has real sockets, and each connection of the guest's with the
 * outside is two byte streams in frames; a datagram is one frame.  The port exists with --publish
 * or --network user only.  A frame is a struct run_network_frame and its `bytes` bytes of data.
 *
 * A connection has a number, chosen by the side that opens it: below RUN_NETWORK_CONNECTIONS by the
 * host, from there on and below twice as much by the guest.  It begins with OPEN, which the other
 * side answers with OPENED or REFUSED, in both of which either side may send DATA: as many bytes as
 * RUN_NETWORK_WINDOW and all CREDITs of the other side together allow.  It ends when each side has
 * sent CLOSE or RESET, after which that side sends nothing more of it; then the number is free.
 * REFUSED frees it at once.  A CLOSE or RESET of a number that is free means nothing.
 *
 * The guest's own address is RUN_NETWORK_GUEST; RUN_NETWORK_HOST stands for the host's loopback,
 * 127.0.0.1.  Other addresses are what they are.  Neither side trusts the other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RUN_PORT_NETWORK "org.microtome.network"

#define RUN_NETWORK_CONNECTIONS 512u /* that one side opens */
#define RUN_NETWORK_NUMBERS (2 * RUN_NETWORK_CONNECTIONS)
#define RUN_NETWORK_WINDOW 131072u /* bytes of one direction that are not read yet */
#define RUN_NETWORK_BYTES_MAX 65536u /* after one frame */
#define RUN_NETWORK_DATAGRAM_MAX 65507u
#define RUN_NETWORK_PUBLISHED_MAX 64u /* ports */

#define RUN_NETWORK_GUEST 0x0a00020fu /* 10.0.2.15 */
#define RUN_NETWORK_HOST 0x0a000202u /* 10.0.2.2 */

enum run_network_type {
    RUN_NETWORK_OPEN = 1, /* host: a client, `address`, has come to the published `guest_port`;
                             guest: connect to `address` */
    RUN_NETWORK_OPENED = 2,
    RUN_NETWORK_REFUSED = 3, /* value: Linux's errno */
    RUN_NETWORK_DATA = 4, /* at least one byte */
    RUN_NETWORK_CREDIT = 5, /* value: so many bytes more may come */
    RUN_NETWORK_SHUT = 6, /* no DATA comes after this */
    RUN_NETWORK_CLOSE = 7, /* the socket is closed; all DATA was sent */
    RUN_NETWORK_RESET = 8, /* the connection has failed, or DATA was not read */
    RUN_NETWORK_DATAGRAM = 9, /* UDP between `guest_port` and `address`; no connection */
    RUN_NETWORK_WAIT = 10, /* guest: nothing can run; answer with WAITED after time_ns, UINT64_MAX:
                              never.  `wait` is its number; a new one replaces the old one */
    RUN_NETWORK_WAITED = 11, /* host */
};

struct run_network_frame {
    uint32_t type; /* enum run_network_type */
    uint32_t connection; /* its number; otherwise 0 */
    uint32_t bytes; /* after this struct: DATA and DATAGRAM only */
    uint32_t value;
    uint8_t address[16]; /* IPv6's, or IPv4's as ::ffff:a.b.c.d */
    uint16_t port; /* of that address */
    uint16_t guest_port;
    uint32_t wait; /* host: the first frame after a WAIT has its number; otherwise 0 */
    uint64_t time_ns; /* host: with `wait`, time since then */
};
_Static_assert(sizeof(struct run_network_frame) == 48, "run_network_frame");
_Static_assert(offsetof(struct run_network_frame, connection) == 4, "connection");
_Static_assert(offsetof(struct run_network_frame, bytes) == 8, "bytes");
_Static_assert(offsetof(struct run_network_frame, value) == 12, "value");
_Static_assert(offsetof(struct run_network_frame, address) == 16, "address");
_Static_assert(offsetof(struct run_network_frame, port) == 32, "port");
_Static_assert(offsetof(struct run_network_frame, guest_port) == 34, "guest_port");
_Static_assert(offsetof(struct run_network_frame, wait) == 36, "wait");
_Static_assert(offsetof(struct run_network_frame, time_ns) == 40, "time_ns");
