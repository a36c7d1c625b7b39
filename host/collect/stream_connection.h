/* One machine's connection to the collector, as a state machine without sockets: bytes in, bytes
 * out (include/run_stream.h).  The machine is not trusted.
 *
 *   HELLO -> OPENING -> FRAMES -> FINISHING -> CLOSING   any -> CLOSING
 *
 * In OPENING and FINISHING the owner works on the run, which may take long, and reports when it is
 * done; no bytes are taken in these states.  In CLOSING only the remaining output is sent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collect/stream_run.h"
#include "include/run_stream.h"
#include "lib/boot/run_stream.h"

enum connection_state {
    CONNECTION_HELLO,
    CONNECTION_OPENING,
    CONNECTION_FRAMES,
    CONNECTION_FINISHING,
    CONNECTION_CLOSING,
};

struct connection {
    enum connection_state state;
    enum run_welcome_status status; /* in CLOSING: the last status that the machine got */
    const char *why; /* in CLOSING: what the machine did wrong, or NULL */
    struct run_hello hello;
    size_t hello_bytes; /* received bytes of it */
    struct stream_run *run; /* belongs to the owner; open in FRAMES, not used otherwise */
    struct run_parser parser;
    uint64_t position; /* bytes of frames taken since the welcome */
    uint64_t whole; /* position up to which every chunk is whole */
    bool has_part; /* the start of a chunk follows `whole` */
    uint64_t acked;
    uint8_t out[128]; /* to be sent */
    size_t out_bytes;
};

/* Takes bytes from the machine.  `token` has RUN_STREAM_NAME_BYTES bytes; the hello must contain
 * it. */
void stream_connection_take(struct connection *c, const char *token, const void *bytes,
                            size_t count);

/* Ends OPENING with the result of stream_run_open or another refusal. */
void stream_connection_opened(struct connection *c, struct stream_run *run,
                              enum run_welcome_status status);

/* Ends FINISHING with the result of stream_run_finish. */
void stream_connection_finished(struct connection *c, enum run_welcome_status status);

/* Returns the number of bytes to acknowledge, or 0. */
uint64_t stream_connection_unacked(const struct connection *c);

/* In FRAMES: flushes the received data to disk and acknowledges it, but not while the last
 * acknowledgement is still unsent. */
void stream_connection_ack(struct connection *c);

/* Removes `count` sent bytes from `out`. */
void stream_connection_sent(struct connection *c, size_t count);
