/* The bytes of a pipe, in a ring.  Memory comes from the caller.  Context: any. */
#pragma once

#include <stdint.h>

struct pipe_buffer {
    uint8_t *bytes;
    uint32_t size;
    uint32_t start; /* index of the first byte */
    uint32_t used;
};

static inline uint32_t pipe_buffer_room(const struct pipe_buffer *b)
{
    return b->size - b->used;
}

/* Returns how many bytes are contiguous from the one `skip` bytes after the first, and sets *at to
 * it; 0 if there are none.  skip <= used. */
uint32_t pipe_buffer_filled(const struct pipe_buffer *b, uint32_t skip, const uint8_t **at);
void pipe_buffer_drop(struct pipe_buffer *b, uint32_t bytes); /* drops the first ones; <= used */

/* Returns how many free bytes are contiguous where the next byte goes, and sets *at to it; 0 if the
 * buffer is full. */
uint32_t pipe_buffer_free(const struct pipe_buffer *b, uint8_t **at);
void pipe_buffer_add(struct pipe_buffer *b, uint32_t bytes); /* that the caller put there */

/* Moves the contents to other memory of `size` >= used bytes; the caller frees the old memory. */
void pipe_buffer_move(struct pipe_buffer *b, uint8_t *bytes, uint32_t size);
