/* What a run left in the BUFFER ranges: the frames of include/run_stream.h, in order.
 *
 * A kernel that crashed may have damaged them: they are checked when they are first walked over,
 * and later walks end where that one did.  Nothing outside of the ranges is ever looked at.  Pure.
 */
#ifndef BOOT_UEFI_FRAMES_H
#define BOOT_UEFI_FRAMES_H

#include <stdbool.h>

#include "include/boot_info.h"
#include "lib/run_stream.h"

struct frames {
    const struct boot_memory_range *ranges;
    uint32_t range_count;
    uint64_t bytes; /* of frames that are good */
    uint64_t ports[RUN_STREAM_PORTS]; /* bytes of each port's stream in them */
    const char *damage; /* why the rest is not taken; NULL: there is none */
};

/* `bytes`: what the kernel says it has written.  The ranges are the loader's own list. */
void frames_check(struct frames *frames, const struct boot_memory_range *ranges, uint32_t count,
                  uint64_t bytes);

struct frames_walk {
    const struct frames *frames;
    uint64_t left; /* bytes of frames that were not looked at */
    uint64_t at; /* in the range */
    uint32_t range;
    struct run_parser parser;
};

struct frames_piece {
    const uint8_t *bytes;
    uint64_t count; /* at least 1 */
};

/* Goes over one port's stream. */
void frames_walk(struct frames_walk *walk, const struct frames *frames);
bool frames_next(struct frames_walk *walk, enum run_stream_port port, struct frames_piece *piece);

/* The last line of a port's stream that begins with `start`, without that, as far as it fits; ""
 * when there is none. */
void frames_last_line(const struct frames *frames, enum run_stream_port port, const char *start,
                      char *out, size_t room);

#endif
