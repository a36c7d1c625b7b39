/* Integers in as few bytes as they need (LEB128): seven bits per byte, the lowest first; the top
 * bit is set in all bytes but the last.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_BYTES_MAX 10u

/* Stores the value; returns the end of its bytes. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* Puts the seven low bits of each byte together. */
static inline uint64_t varint_join(uint64_t word)
{
    word = (word & 0x7f007f007f007f00) >> 1 | (word & 0x007f007f007f007f);
    word = (word & 0x3fff00003fff0000) >> 2 | (word & 0x00003fff00003fff);
    return (word & 0x0fffffff00000000) >> 4 | (word & 0x000000000fffffff);
}

/* Returns the end of the integer, or NULL if the bytes end before it does or it has more than 64
 * bits. */
static inline const uint8_t *varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t read = 0, word, last;

    if (end - at >= (ptrdiff_t)sizeof word) {
        if (*at < 0x80) {
            *value = *at;
            return at + 1;
        }
        memcpy(&word, at, sizeof word);
        last = ~word & 0x8080808080808080;
        if (last != 0) {
            *value = varint_join(word & (last ^ (last - 1)));
            return at + (__builtin_ctzll(last) + 1) / 8;
        }
    }
    for (uint32_t shift = 0; shift < 64 && at != end; shift += 7) {
        uint64_t byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        read |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = read;
            return at;
        }
    }
    return NULL;
}
