/* Reads DWARF's numbers from a block of memory and never beyond it.  For host/unwind/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct unwind_bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool bad; /* something was beyond the end and read as 0 */
};

/* Reads a little-endian number of 1 to 8 bytes. */
static inline uint64_t unwind_bytes_number(struct unwind_bytes *b, uint32_t bytes)
{
    uint64_t value = 0;

    if ((uint64_t)(b->end - b->at) < bytes) {
        b->bad = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, bytes);
    b->at += bytes;
    return value;
}

static inline uint64_t unwind_bytes_signed(struct unwind_bytes *b, uint32_t bytes)
{
    uint32_t unused = 64 - 8 * bytes;

    return (uint64_t)((int64_t)(unwind_bytes_number(b, bytes) << unused) >> unused);
}

/* Reads a LEB128; bits after the 64th are dropped. */
static inline uint64_t unwind_bytes_leb(struct unwind_bytes *b, bool is_signed)
{
    uint64_t value = 0;
    uint32_t shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)unwind_bytes_number(b, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while ((byte & 0x80) != 0);
    if (is_signed && shift < 64 && (byte & 0x40) != 0)
        value |= UINT64_MAX << shift;
    return value;
}

static inline uint64_t unwind_bytes_uleb(struct unwind_bytes *b)
{
    return unwind_bytes_leb(b, false);
}

static inline uint64_t unwind_bytes_sleb(struct unwind_bytes *b)
{
    return unwind_bytes_leb(b, true);
}

/* Reads the next `count` bytes as a separate block. */
static inline struct unwind_bytes unwind_bytes_block(struct unwind_bytes *b, uint64_t count)
{
    struct unwind_bytes block = {b->at, b->at, false};

    if ((uint64_t)(b->end - b->at) < count) {
        b->bad = true;
        b->at = b->end;
    } else {
        b->at += count;
        block.end = b->at;
    }
    return block;
}
