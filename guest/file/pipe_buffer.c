/* A ring of bytes. */
#include "guest/file/pipe_buffer.h"

#include <string.h>

uint32_t pipe_buffer_filled(const struct pipe_buffer *b, uint32_t skip, const uint8_t **at)
{
    uint32_t first = (b->start + skip) % b->size;
    uint32_t left = b->used - skip;

    *at = b->bytes + first;
    return left < b->size - first ? left : b->size - first;
}

void pipe_buffer_drop(struct pipe_buffer *b, uint32_t bytes)
{
    b->used -= bytes;
    b->start = b->used ? (b->start + bytes) % b->size : 0; /* empty: all room is contiguous */
}

uint32_t pipe_buffer_free(const struct pipe_buffer *b, uint8_t **at)
{
    uint32_t end = (b->start + b->used) % b->size;
    uint32_t room = pipe_buffer_room(b);

    *at = b->bytes + end;
    return room < b->size - end ? room : b->size - end;
}

void pipe_buffer_add(struct pipe_buffer *b, uint32_t bytes)
{
    b->used += bytes;
}

void pipe_buffer_move(struct pipe_buffer *b, uint8_t *bytes, uint32_t size)
{
    uint32_t done = 0;

    while (done < b->used) {
        const uint8_t *at;
        uint32_t part = pipe_buffer_filled(b, done, &at);

        memcpy(bytes + done, at, part);
        done += part;
    }
    b->bytes = bytes;
    b->size = size;
    b->start = 0;
}
