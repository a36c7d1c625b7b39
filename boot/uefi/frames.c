/* Parses the frames in a run's buffer. */
#include "boot/uefi/frames.h"

#include <string.h>

#define FRAMES_LINE_BYTES 512 /* longer lines are cut */

void frames_walk(struct frames_walk *walk, const struct frames *frames)
{
    memset(walk, 0, sizeof *walk);
    walk->frames = frames;
    walk->left = frames->bytes;
}

/* Returns the next piece, of any port; RUN_PIECE_MORE at the end. */
static void next_piece(struct frames_walk *walk, struct run_piece *piece)
{
    const struct frames *frames = walk->frames;

    *piece = (struct run_piece){.kind = RUN_PIECE_MORE};
    while (walk->left > 0 && walk->range < frames->range_count) {
        const struct boot_memory_range *range = &frames->ranges[walk->range];
        uint64_t here = range->kind == BOOT_MEMORY_BUFFER ? range->bytes - walk->at : 0;
        size_t taken;

        if (here > walk->left)
            here = walk->left;
        if (here == 0) {
            walk->range++;
            walk->at = 0;
            continue;
        }
        taken = run_parser_next(&walk->parser, (const uint8_t *)(uintptr_t)range->base + walk->at,
                                here, piece);
        walk->at += taken;
        walk->left -= taken;
        if (piece->kind != RUN_PIECE_MORE)
            return;
    }
}

static uint64_t buffer_bytes(const struct frames *frames)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < frames->range_count; i++)
        if (frames->ranges[i].kind == BOOT_MEMORY_BUFFER)
            sum += frames->ranges[i].bytes;
    return sum;
}

/* Describes why a walk has ended. */
static const char *damage_of(const struct run_piece *last, const struct run_parser *parser)
{
    if (last->kind == RUN_PIECE_DATA)
        return "a part of a stream is missing";
    if (last->kind == RUN_PIECE_BAD)
        return "there is a bad frame";
    return parser->used > 0 || parser->left > 0 ? "the last frame is cut" : NULL;
}

void frames_check(struct frames *frames, const struct boot_memory_range *ranges, uint32_t count,
                  uint64_t bytes)
{
    struct frames_walk walk;
    struct run_piece piece;
    uint64_t good = 0;

    memset(frames, 0, sizeof *frames);
    frames->ranges = ranges;
    frames->range_count = count;
    frames->bytes = buffer_bytes(frames);
    if (bytes > frames->bytes)
        frames->damage = "more is said to be there than the buffer holds";
    else
        frames->bytes = bytes;
    frames_walk(&walk, frames);
    for (next_piece(&walk, &piece); piece.kind == RUN_PIECE_DATA; next_piece(&walk, &piece)) {
        if (piece.offset != frames->ports[piece.port])
            break;
        frames->ports[piece.port] += piece.count;
        good = frames->bytes - walk.left;
    }
    if (frames->damage == NULL)
        frames->damage = damage_of(&piece, &walk.parser);
    frames->bytes = good;
}

bool frames_next(struct frames_walk *walk, enum run_stream_port port, struct frames_piece *piece)
{
    struct run_piece next;

    for (next_piece(walk, &next); next.kind == RUN_PIECE_DATA; next_piece(walk, &next))
        if (next.port == port && next.count > 0) {
            *piece = (struct frames_piece){next.bytes, next.count};
            return true;
        }
    return false;
}

struct line {
    char text[FRAMES_LINE_BYTES];
    size_t bytes;
};

static void keep_line(const struct line *line, const char *start, char *out, size_t room)
{
    size_t skip = strlen(start), bytes;

    if (line->bytes < skip || memcmp(line->text, start, skip) != 0 || room == 0)
        return;
    bytes = line->bytes - skip < room - 1 ? line->bytes - skip : room - 1;
    memcpy(out, line->text + skip, bytes);
    out[bytes] = '\0';
}

void frames_last_line(const struct frames *frames, enum run_stream_port port, const char *start,
                      char *out, size_t room)
{
    struct frames_walk walk;
    struct frames_piece piece;
    struct line line = {.bytes = 0};

    if (room > 0)
        out[0] = '\0';
    frames_walk(&walk, frames);
    while (frames_next(&walk, port, &piece))
        for (uint64_t i = 0; i < piece.count; i++) {
            if (piece.bytes[i] == '\n') {
                keep_line(&line, start, out, room);
                line.bytes = 0;
            } else if (line.bytes < sizeof line.text) {
                line.text[line.bytes++] = (char)piece.bytes[i];
            }
        }
    keep_line(&line, start, out, room);
}
