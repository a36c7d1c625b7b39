/* Stores the frames of include/run_stream.h in memory that may be in several pieces.  Freestanding.
 * The pieces hold one stream, from the first piece on; its first `used` bytes are complete frames.
 */
#pragma once

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
    uint32_t piece; /* the one that is being filled */
    uint64_t piece_used; /* bytes of that piece in use */
    uint64_t capacity; /* of all pieces */
    uint64_t used;
    uint64_t offsets[RUN_STREAM_PORTS]; /* the next byte of each port's own stream */
};

/* Adds a piece of any size; the buffer must be all zeros before the first.  Returns 0, or -ENOSPC
 * if there are too many. */
int run_buffer_add(struct run_buffer *buffer, void *bytes, uint64_t count);

/* Returns how many bytes of a port fit into `room` bytes with their frames. */
uint64_t run_buffer_fits(uint64_t room);

/* Stores all bytes, in as many frames as needed, or none.  Returns 0 or -ENOSPC. */
int run_buffer_put(struct run_buffer *buffer, enum run_stream_port port, const void *bytes,
                   uint64_t count);
