/* The bytes of a pipe: a ring.  Pure: memory comes from the caller. */
#ifndef GUEST_FILE_PIPE_BUFFER_H
#define GUEST_FILE_PIPE_BUFFER_H

#include <stdint.h>

struct pipe_buffer {
    uint8_t *bytes;
    uint32_t size;
    uint32_t start; /* of what is in it */
    uint32_t used;
};

static inline uint32_t pipe_buffer_room(const struct pipe_buffer *b)
{
    return b->size - b->used;
}

/* Bytes that lie together from the first one on, at *at; 0 when it is empty.  Those `skip` bytes
 * behind the first one likewise: skip <= used. */
uint32_t pipe_buffer_filled(const struct pipe_buffer *b, uint32_t skip, const uint8_t **at);
void pipe_buffer_drop(struct pipe_buffer *b, uint32_t bytes); /* the first ones; <= used */

/* Free bytes that lie together where the next one goes, at *at; 0 when it is full. */
uint32_t pipe_buffer_free(const struct pipe_buffer *b, uint8_t **at);
void pipe_buffer_add(struct pipe_buffer *b, uint32_t bytes); /* that were put there */

/* Moves what is in it to other memory of `size` >= used bytes; the caller frees the old one. */
void pipe_buffer_move(struct pipe_buffer *b, uint8_t *bytes, uint32_t size);

#endif
