/* The output of a run in the BUFFER ranges: the frames of include/run_stream.h, in order.
 *
 * A kernel that crashed may have damaged them.  They are checked in a first walk, and later walks
 * end where that one did.  Nothing outside the ranges is ever read.  Pure.
 */
#pragma once

#include <stdbool.h>

#include "include/boot_info.h"
#include "lib/boot/run_stream.h"

struct frames {
    const struct boot_memory_range *ranges;
    uint32_t range_count;
    uint64_t bytes; /* bytes of valid frames */
    uint64_t ports[RUN_STREAM_PORTS]; /* bytes of each port's stream in them */
    const char *damage; /* why the remaining bytes are not taken; NULL: there are none */
};

/* `bytes`: how many the kernel claims to have written.  The ranges come from the loader. */
void frames_check(struct frames *frames, const struct boot_memory_range *ranges, uint32_t count,
                  uint64_t bytes);

struct frames_walk {
    const struct frames *frames;
    uint64_t left; /* bytes of frames not visited yet */
    uint64_t at; /* position in the range */
    uint32_t range;
    struct run_parser parser;
};

struct frames_piece {
    const uint8_t *bytes;
    uint64_t count; /* at least 1 */
};

/* Iterates over one port's stream. */
void frames_walk(struct frames_walk *walk, const struct frames *frames);
bool frames_next(struct frames_walk *walk, enum run_stream_port port, struct frames_piece *piece);

/* Finds the last line of a port's stream that begins with `start`, and copies what follows `start`,
 * as far as it fits; "" if there is none. */
void frames_last_line(const struct frames *frames, enum run_stream_port port, const char *start,
                      char *out, size_t room);
