/* One machine's connection to the collector, as a state machine that knows no sockets: bytes in,
 * bytes out (include/run_stream.h).  The machine is not trusted.
 *
 *   HELLO -> OPENING -> FRAMES -> FINISHING -> CLOSING      any -> CLOSING
 *
 * In OPENING and FINISHING the owner has work to do on the run that may take long, and says when it
 * is done; nothing is taken meanwhile.  In CLOSING what is left to send is sent, and that was it.
 */
#ifndef HOST_COLLECT_STREAM_CONNECTION_H
#define HOST_COLLECT_STREAM_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collect/stream_run.h"
#include "include/run_stream.h"
#include "lib/run_stream.h"

enum connection_state {
    CONNECTION_HELLO,
    CONNECTION_OPENING,
    CONNECTION_FRAMES,
    CONNECTION_FINISHING,
    CONNECTION_CLOSING,
};

struct connection {
    enum connection_state state;
    enum run_welcome_status status; /* in CLOSING: what the machine was told last */
    const char *why; /* in CLOSING: what it did wrong, or NULL */
    struct run_hello hello;
    size_t hello_bytes; /* of it that have come */
    struct stream_run *run; /* the owner's; open in FRAMES, not looked at otherwise */
    struct run_parser parser;
    uint64_t position; /* bytes of frames since the welcome that were taken */
    uint64_t whole; /* position up to which everything is part of a whole chunk */
    bool has_part; /* what lies beyond `whole` is the beginning of a chunk */
    uint64_t acked;
    uint8_t out[128]; /* to be sent */
    size_t out_bytes;
};

/* Takes bytes from the machine.  `token`: RUN_STREAM_NAME_BYTES, what the hello must have. */
void connection_take(struct connection *c, const char *token, const void *bytes, size_t count);

/* In OPENING: what became of it, stream_run_open's result or another refusal. */
void connection_opened(struct connection *c, struct stream_run *run,
                       enum run_welcome_status status);

/* In FINISHING: what became of it, stream_run_finish's result. */
void connection_finished(struct connection *c, enum run_welcome_status status);

/* Whether there is something to acknowledge: bytes, 0 when there is nothing. */
uint64_t connection_unacked(const struct connection *c);

/* In FRAMES: brings what came to disk and acknowledges it; later, when the last acknowledgement is
 * still not sent.
 */
void connection_ack(struct connection *c);

/* So many bytes of `out` were sent. */
void connection_sent(struct connection *c, size_t count);

#endif
