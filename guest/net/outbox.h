/* What is to reach the collector: frames (include/run_stream.h) in a ring of bytes, kept until it
 * says that it has them, whatever becomes of connections.  Pure: no network, no waiting.
 *
 * Handing out: outbox_next gives the next piece of memory, header or data, outbox_took says how
 * much of it was sent.  The memory of what was handed out stays as it is until outbox_acknowledge
 * frees it, or the next outbox_resume, so that it can be sent from where it is.
 */
#ifndef GUEST_NET_OUTBOX_H
#define GUEST_NET_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_stream.h"

#define OUTBOX_BYTES_MIN (256u << 10) /* of memory */

struct outbox_entry { /* a frame */
    struct run_frame frame;
    uint64_t at; /* of its data in the ring, counted since the start */
    uint64_t end; /* behind it in the connection's stream, when it was handed out */
    bool skipped; /* the collector has it already */
};

struct outbox {
    uint8_t *ring;
    uint64_t ring_bytes;
    struct outbox_entry *entries; /* a ring, too */
    uint64_t entry_count; /* a power of two */
    uint64_t first, next,
        last; /* entries: the oldest kept, the one handed out, behind the newest */
    uint64_t taken; /* bytes of entry `next` that were handed out, its header's first */
    uint64_t data_first, data_last; /* bytes: freed, put */
    uint64_t position; /* of the connection: bytes handed out */
    uint64_t acknowledged; /* of them */
    uint64_t put[RUN_STREAM_PORTS]; /* each port's stream: bytes put */
    uint64_t freed[RUN_STREAM_PORTS]; /* and not kept any more */
    bool ended; /* the frame of RUN_STREAM_END is put */
};

enum outbox_resume {
    OUTBOX_RESUMED = 0,
    OUTBOX_LACKS, /* the collector lacks what it had acknowledged */
    OUTBOX_CLAIMS, /* it claims to have what was never sent */
};

/* `memory`: OUTBOX_BYTES_MIN bytes or more, aligned to 8, for entries and the ring. */
void outbox_init(struct outbox *box, void *memory, uint64_t bytes);

/* How many bytes can be put now, as one frame of the port.  The trace has it longest: frames of a
 * few bytes, as output may have, use up entries rather than bytes. */
uint64_t outbox_room(const struct outbox *box, enum run_stream_port port);

/* Bytes of data that are kept. */
uint64_t outbox_kept(const struct outbox *box);

/* Puts at most RUN_FRAME_BYTES_MAX bytes of a port: all of them, or -ENOSPC. */
int outbox_put(struct outbox *box, enum run_stream_port port, const void *bytes, size_t count);

/* Puts the frame that says that this was all: once, the last.  0, -ENOSPC. */
int outbox_put_end(struct outbox *box);

/* Puts a frame without bytes, so that something is sent.  0, -ENOSPC. */
int outbox_put_sign(struct outbox *box);

/* The next piece of the connection's stream: its size, 0 when everything was handed out. */
size_t outbox_next(struct outbox *box, const void **bytes);
void outbox_took(struct outbox *box, size_t bytes);

/* The collector has everything up to `position` of the connection's stream.  -EINVAL: it was not
 * handed out yet, or less than what was acknowledged before.
 */
int outbox_acknowledge(struct outbox *box, uint64_t position);

/* A new connection begins: the collector has so much of each port. */
enum outbox_resume outbox_resume(struct outbox *box, const uint64_t have[RUN_STREAM_PORTS]);

/* Everything was handed out, the end too. */
bool outbox_all_sent(const struct outbox *box);

#endif
