/* The connection to the collector: hello, welcome, frames out of an outbox, acknowledgements; again
 * when it breaks.  Over lwIP; service CPU only.  Everything that comes is checked.
 */
#ifndef GUEST_NET_STREAM_CLIENT_H
#define GUEST_NET_STREAM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/net/outbox.h"
#include "include/boot_info.h"

enum stream_state {
    STREAM_WAITING, /* before the next attempt */
    STREAM_CONNECTING,
    STREAM_GREETING, /* connected; the collector's welcome is due */
    STREAM_OPEN, /* frames travel */
    STREAM_DONE, /* the collector has the whole run */
    STREAM_REFUSED, /* trying again is no use */
};

/* `box` is the client's from now on, but for putting.  0, -EINVAL: a name that is none. */
int stream_client_start(const struct boot_network *network, struct outbox *box);

/* Moves everything on but the network itself: net_stack_poll. */
void stream_client_poll(void);

enum stream_state stream_client_state(void);

/* Milliseconds since there was a connection that got on, or, while nothing is to be sent, since
 * there was one.  Long times without stream_client_poll do not count. */
uint64_t stream_client_stuck_ms(void);

/* Bytes that are to be sent or acknowledged. */
bool stream_client_busy(void);

/* What was last wrong, for people; "" when nothing ever was. */
const char *stream_client_problem(void);

/* How often a connection was open. */
uint32_t stream_client_connections(void);

/* Closes what is open, as far as that goes without waiting. */
void stream_client_stop(void);

#endif
