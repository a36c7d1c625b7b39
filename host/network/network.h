/* Joins the guest's sockets to the outside (docs/architecture/outside.md, include/run_network.h): a
 * thread has the host's sockets and moves bytes between them and the guest's port.
 *
 * The guest is not trusted: it can open TCP connections and send datagrams, with --network user
 * alone, and answer clients of the ports that --publish names.  What it sends is checked, and what
 * waits here is limited.  Never prints.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/network/network_connection.h"
#include "host/network/network_datagram.h"
#include "host/network/network_port.h"
#include "host/options/options.h"

/* Nothing is open; it may be stopped and closed. */
#define NETWORK_CLOSED \
    {                  \
        .wake = -1     \
    }

struct network {
    bool user; /* the guest may open connections */
    struct network_published published[RUN_NETWORK_PUBLISHED_MAX];
    size_t published_count;
    struct network_port port;
    struct network_connection connections[RUN_NETWORK_NUMBERS];
    struct network_flow flows[NETWORK_FLOWS];
    uint64_t datagrams; /* that the guest sent: for the age of flows */
    uint32_t turn; /* the connection that may send next */
    uint64_t leave_ns; /* the guest has ended: when to stop sending what is left; 0: it has not */
    int wake; /* eventfd: readable when the thread is to end at once */
    bool running; /* there is a thread */
    pthread_t thread;
    /* result, once the thread has ended */
    const char *bad; /* what the guest sent that the protocol does not have, or NULL */
};

/* Binds what --publish names.  Returns 0, or -1 with the failure filled; the network can be closed
 * in any case. */
int network_open(struct network *n, const struct options *o, struct run_failure *failure);

/* Serves a socket in a thread until the other end closes it and what is under way has left, or
 * until network_stop.  The socket remains the caller's.  Returns 0 or -errno. */
int network_start(struct network *n, int port);

/* Ends the thread, if there is one; `now`: what is under way is lost.  Otherwise the port must be
 * at its end, and clients have NETWORK_LEAVE_NS to read what the program sent. */
void network_stop(struct network *n, bool now);
#define NETWORK_LEAVE_NS 5000000000ull

void network_close(struct network *n);

/* One turn of the thread's loop, for it and for tests: waits at most `wait_ms` (-1: as long as it
 * takes), moves what can be moved.  Returns false when all is done. */
bool network_turn(struct network *n, int wait_ms);

/* Takes what the guest sent.  Returns NULL, or what is wrong with it.  For network_turn and tests.
 */
const char *network_take(struct network *n, const struct run_network_frame *frame,
                         const uint8_t *data);
