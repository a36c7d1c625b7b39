/* What is to reach the collector: frames (include/run_stream.h) in a ring of bytes, kept across
 * connections until the collector acknowledges them.  Pure: no network, no waiting.
 *
 * outbox_next hands out the next piece of memory, header or data; outbox_took says how much of it
 * was sent.  That memory does not change until outbox_acknowledge frees it, or until the next
 * outbox_resume, so that it can be sent in place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_stream.h"

#define OUTBOX_BYTES_MIN (256u << 10) /* of memory */

struct outbox_entry { /* a frame */
    struct run_frame frame;
    uint64_t at; /* of its data in the ring, counted since the start */
    uint64_t end; /* once handed out: its end in the connection's stream */
    bool skipped; /* the collector has it already */
};

struct outbox {
    uint8_t *ring;
    uint64_t ring_bytes;
    struct outbox_entry *entries; /* a ring, too */
    uint64_t entry_count; /* a power of two */
    uint64_t first, next, last; /* entries: oldest kept, being handed out, after the newest */
    uint64_t taken; /* bytes of entry `next` that were handed out, its header's first */
    uint64_t data_first, data_last; /* bytes freed so far, and put so far */
    uint64_t position; /* of the connection: bytes handed out */
    uint64_t acknowledged; /* of them */
    uint64_t put[RUN_STREAM_PORTS]; /* each port's stream: bytes put */
    uint64_t freed[RUN_STREAM_PORTS]; /* and no longer kept */
    bool ended; /* the frame of RUN_STREAM_END is put */
};

enum outbox_resume {
    OUTBOX_RESUMED = 0,
    OUTBOX_LACKS, /* the collector lacks what it had acknowledged */
    OUTBOX_CLAIMS, /* it claims to have what was never sent */
};

/* `memory`: OUTBOX_BYTES_MIN bytes or more, aligned to 8, for entries and the ring. */
void outbox_init(struct outbox *box, void *memory, uint64_t bytes);

/* Returns how many bytes can be put now as one frame of the port.  The trace may use the last
 * entries: small frames, as of output, use up entries rather than bytes. */
uint64_t outbox_room(const struct outbox *box, enum run_stream_port port);

/* Returns how many bytes of data are kept. */
uint64_t outbox_kept(const struct outbox *box);

/* Puts `count` bytes of a port, at most RUN_FRAME_BYTES_MAX.  Returns 0, or -ENOSPC and puts none.
 */
int outbox_put(struct outbox *box, enum run_stream_port port, const void *bytes, size_t count);

/* Puts the frame that ends the stream, once, as the last.  Returns 0 or -ENOSPC. */
int outbox_put_end(struct outbox *box);

/* Puts a frame without bytes, as a sign of life.  Returns 0 or -ENOSPC. */
int outbox_put_sign(struct outbox *box);

/* Gives the next piece of the connection's stream.  Returns its size, or 0 if everything was handed
 * out. */
size_t outbox_next(struct outbox *box, const void **bytes);
void outbox_took(struct outbox *box, size_t bytes);

/* Notes that the collector has the connection's stream up to `position`.  Returns 0, or -EINVAL if
 * that was not handed out yet, or is less than was acknowledged before. */
int outbox_acknowledge(struct outbox *box, uint64_t position);

/* Begins a new connection, of which the collector has have[port] bytes of each port. */
enum outbox_resume outbox_resume(struct outbox *box, const uint64_t have[RUN_STREAM_PORTS]);

/* Returns whether everything was handed out, including the end. */
bool outbox_all_sent(const struct outbox *box);
