/* Takes the frames of a run out of a file that holds a guest's memory: one file a port.
 *
 *   unframe MEMORY BASE:BYTES[,BASE:BYTES]... SENT DIRECTORY
 *
 * The pieces are those of the guest's buffer, in hexadecimal digits; SENT is the number of bytes of
 * frames in them.  Fails where they are not whole frames, each port's in order.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/boot/run_stream.h"

static const char *const names[RUN_STREAM_PORTS] = {
    [RUN_STREAM_TRACE] = "trace", [RUN_STREAM_STDOUT] = "stdout", [RUN_STREAM_STDERR] = "stderr",
    [RUN_STREAM_LOG] = "log",     [RUN_STREAM_FILES] = "files",
};

static FILE *outputs[RUN_STREAM_PORTS];
static uint64_t positions[RUN_STREAM_PORTS];
static struct run_parser parser;

static void open_outputs(const char *directory)
{
    char path[4096];

    for (int port = 1; port < RUN_STREAM_PORTS; port++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[port]);
        outputs[port] = fopen(path, "w");
        if (!outputs[port])
            err(1, "%s", path);
    }
}

static void take(const uint8_t *bytes, size_t count)
{
    struct run_piece piece;

    while (count) {
        size_t taken = run_parser_next(&parser, bytes, count, &piece);

        if (piece.kind == RUN_PIECE_BAD)
            errx(1, "no frame");
        if (piece.kind == RUN_PIECE_DATA) {
            if (piece.offset != positions[piece.port])
                errx(1, "%s: a frame for %llu where %llu is due", names[piece.port],
                     (unsigned long long)piece.offset, (unsigned long long)positions[piece.port]);
            positions[piece.port] += piece.count;
            if (fwrite(piece.bytes, 1, piece.count, outputs[piece.port]) != piece.count)
                err(1, "%s", names[piece.port]);
        }
        bytes += taken;
        count -= taken;
    }
}

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 16];
    uint64_t left;
    FILE *memory;

    if (argc != 5)
        errx(2, "usage: unframe MEMORY BASE:BYTES[,BASE:BYTES]... SENT DIRECTORY");
    memory = fopen(argv[1], "r");
    if (!memory)
        err(1, "%s", argv[1]);
    left = strtoull(argv[3], NULL, 10);
    open_outputs(argv[4]);
    for (char *text = argv[2]; *text && left;) {
        uint64_t base = strtoull(text, &text, 16), count = strtoull(text + 1, &text, 16);

        text += *text == ',';
        if (fseeko(memory, (off_t)base, SEEK_SET))
            err(1, "%s", argv[1]);
        count = count < left ? count : left;
        left -= count;
        for (size_t part; count; count -= part) {
            part = count < sizeof bytes ? count : sizeof bytes;
            if (fread(bytes, 1, part, memory) != part)
                err(1, "%s", argv[1]);
            take(bytes, part);
        }
    }
    if (left || parser.left || parser.used)
        errx(1, "the last frame is cut off");
    for (int port = 1; port < RUN_STREAM_PORTS; port++)
        if (fclose(outputs[port]))
            err(1, "%s", names[port]);
    return 0;
}
