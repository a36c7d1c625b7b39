/* The connection to the collector: hello, welcome, frames out of an outbox, acknowledgements.
 * Connects again when it breaks.  Uses lwIP; checks all input.  Context: service CPU. */
#pragma once

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
    STREAM_REFUSED, /* trying again would not help */
};

/* Starts the client.  From now on the caller may only put into `box`.  Returns 0, or -EINVAL for an
 * invalid name. */
int stream_client_start(const struct boot_network *network, struct outbox *box);

/* Makes progress in all but the network itself, for which there is net_stack_poll. */
void stream_client_poll(void);

enum stream_state stream_client_state(void);

/* Returns the milliseconds since a connection last made progress, or, while nothing is to be sent,
 * since there was one.  Long times without stream_client_poll do not count. */
uint64_t stream_client_stuck_ms(void);

/* Returns whether there are bytes to be sent or acknowledged. */
bool stream_client_busy(void);

/* Returns what was last wrong, as readable text; "" if nothing ever was. */
const char *stream_client_problem(void);

/* Closes what is open, as far as possible without waiting. */
void stream_client_stop(void);
