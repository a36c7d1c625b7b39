/* Fuzzes what the loader reads out of a run's buffer: the first bytes cut the rest into ranges. */
#include <string.h>

#include "boot/uefi/frames.h"
#include "tests/fuzz/fuzz.h"

#define RANGES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct boot_memory_range ranges[RANGES] = {{0}};
    struct frames frames;
    uint64_t said;
    size_t at = RANGES + sizeof said;

    if (size < at)
        return 0;
    memcpy(&said, data + RANGES, sizeof said);
    for (size_t i = 0; i < RANGES; i++) {
        size_t bytes = i + 1 == RANGES || data[i] > size - at ? size - at : data[i];
        uint8_t *block = malloc(bytes ? bytes : 1);

        fuzz_check(block != NULL);
        memcpy(block, data + at, bytes);
        ranges[i] = (struct boot_memory_range){(uintptr_t)block, bytes, BOOT_MEMORY_BUFFER, 0};
        at += bytes;
    }
    frames_check(&frames, ranges, RANGES, said % 2 ? said : said % (2 * size));
    fuzz_check(frames.bytes <= size);
    for (enum run_stream_port port = RUN_STREAM_TRACE; port < RUN_STREAM_PORTS; port++) {
        struct frames_walk walk;
        struct frames_piece piece;
        uint64_t sum = 0;

        frames_walk(&walk, &frames);
        while (frames_next(&walk, port, &piece)) {
            fuzz_check(piece.count > 0);
            sum += piece.count + (piece.bytes[0] & 0) + (piece.bytes[piece.count - 1] & 0);
        }
        fuzz_check(sum == frames.ports[port]);
    }
    for (size_t i = 0; i < RANGES; i++)
        free((void *)(uintptr_t)ranges[i].base);
    return 0;
}
