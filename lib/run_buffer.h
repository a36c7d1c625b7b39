/* Lays the frames of include/run_stream.h into memory that may be in several pieces.
 * Freestanding.  What is in the pieces is a stream that a reader takes from the first piece on;
 * `used` bytes of it are complete frames.
 */
#ifndef LIB_RUN_BUFFER_H
#define LIB_RUN_BUFFER_H

#include <stdint.h>

#include "include/run_stream.h"

#define RUN_BUFFER_PIECES_MAX 64

struct run_buffer_piece {
    uint8_t *bytes;
    uint64_t count;
};

struct run_buffer {
    struct run_buffer_piece pieces[RUN_BUFFER_PIECES_MAX];
    uint32_t piece_count;
    uint32_t piece; /* that is being filled */
    uint64_t piece_used; /* bytes of it */
    uint64_t capacity; /* of all pieces */
    uint64_t used;
    uint64_t offsets[RUN_STREAM_PORTS]; /* the next byte of each port's own stream */
};

/* Starts with a buffer of zeros: another piece, of any size.  0, -ENOSPC: too many. */
int run_buffer_add(struct run_buffer *buffer, void *bytes, uint64_t count);

/* What `count` bytes of a port take with their frames, which hold RUN_FRAME_BYTES_MAX at most. */
uint64_t run_buffer_bytes(uint64_t count);

/* How many bytes of a port fit into `room` bytes with their frames. */
uint64_t run_buffer_fits(uint64_t room);

/* Puts all of them there in as many frames as it takes, or nothing.  0, -ENOSPC. */
int run_buffer_put(struct run_buffer *buffer, enum run_stream_port port, const void *bytes,
                   uint64_t count);

#endif
