/* TCP connections between the guest and the outside, in the thread of host/network/network.c.
 *
 * What a connection has to say is kept as flags and becomes a frame when the port is free.  What
 * the guest sent waits in `buffer`, at most RUN_NETWORK_WINDOW bytes; what the outside sent waits
 * in the host's own socket until the guest gives credit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/run_network.h"

struct network;
struct network_published;

enum network_state {
    NETWORK_FREE,
    NETWORK_OPENING, /* the host's: the guest has not answered OPEN */
    NETWORK_CONNECTING, /* the guest's: the host's connect is under way */
    NETWORK_OPEN,
};

struct network_connection {
    enum network_state state;
    int fd; /* -1: closed */
    uint8_t *buffer; /* bytes for the outside; NULL: none yet */
    uint32_t start, count; /* of what is in it */
    uint32_t allowed; /* bytes that the guest may still send */
    uint32_t credit; /* bytes that the guest takes */
    uint32_t owed; /* bytes that left, which the guest may send again */
    uint32_t
        says; /* enum run_network_type of OPEN, OPENED or REFUSED, of CLOSE or RESET; 0: nothing */
    int error; /* with REFUSED */
    bool at_end; /* the outside sends no more */
    bool readable; /* a read may give something */
    bool hung; /* poll says only that both directions have ended */
    bool shut; /* the guest sends no more */
    bool guest_ended; /* it sent CLOSE or RESET */
    bool ended; /* and so did the host */
    uint16_t port, guest_port; /* of a client */
};

/* Accepts a client, if there is one and room for it.  Returns false if the system lacks descriptors
 * or memory. */
bool network_connection_accept(struct network *n, const struct network_published *p);

/* Takes a frame of a connection from the guest.  Returns NULL or what is wrong. */
const char *network_connection_take(struct network *n, const struct run_network_frame *frame,
                                    const uint8_t *data);

/* Returns the POLL* to wait for, and handles those that came.  The descriptor is c->fd. */
short network_connection_wants(const struct network_connection *c);
void network_connection_handle(struct network_connection *c, short events);

/* Sends one frame if the connection has something to say; the port is free.  Returns whether it
 * did. */
bool network_connection_say(struct network *n, uint32_t number);

/* The guest has ended: what is in the buffer is still written.  Returns true while there is some.
 */
bool network_connection_leave(struct network_connection *c);

void network_connection_close(struct network_connection *c);
