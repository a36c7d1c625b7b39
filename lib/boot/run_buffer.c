/* Stores frames in memory in several pieces. */
#include "lib/boot/run_buffer.h"

#include <errno.h>
#include <string.h>

#include "lib/boot/run_stream.h"

#define WHOLE_FRAME (sizeof(struct run_frame) + RUN_FRAME_BYTES_MAX)

int run_buffer_add(struct run_buffer *buffer, void *bytes, uint64_t count)
{
    if (buffer->piece_count == RUN_BUFFER_PIECES_MAX)
        return -ENOSPC;
    buffer->pieces[buffer->piece_count++] = (struct run_buffer_piece){bytes, count};
    buffer->capacity += count;
    return 0;
}

uint64_t run_buffer_fits(uint64_t room)
{
    uint64_t rest = room % WHOLE_FRAME;
    uint64_t in_rest = rest > sizeof(struct run_frame) ? rest - sizeof(struct run_frame) : 0;

    return room / WHOLE_FRAME * RUN_FRAME_BYTES_MAX + in_rest;
}

/* The caller has checked that there is room. */
static void append(struct run_buffer *buffer, const void *bytes, uint64_t count)
{
    const uint8_t *from = bytes;

    while (count) {
        const struct run_buffer_piece *piece = &buffer->pieces[buffer->piece];
        uint64_t part = piece->count - buffer->piece_used;

        if (part == 0) {
            buffer->piece++;
            buffer->piece_used = 0;
            continue;
        }
        part = part < count ? part : count;
        memcpy(piece->bytes + buffer->piece_used, from, part);
        buffer->piece_used += part;
        from += part;
        count -= part;
    }
}

int run_buffer_put(struct run_buffer *buffer, enum run_stream_port port, const void *bytes,
                   uint64_t count)
{
    const uint8_t *from = bytes;

    if (count > run_buffer_fits(buffer->capacity - buffer->used))
        return -ENOSPC;
    while (count) {
        uint32_t part = count < RUN_FRAME_BYTES_MAX ? (uint32_t)count : RUN_FRAME_BYTES_MAX;
        struct run_frame frame;

        run_stream_frame(&frame, port, buffer->offsets[port], part);
        append(buffer, &frame, sizeof frame);
        append(buffer, from, part);
        buffer->offsets[port] += part;
        buffer->used += sizeof frame + part;
        from += part;
        count -= part;
    }
    return 0;
}
