/* Numbers as digits, without a loop for each: rows of numbers are most of what is written.
 *
 * Each function writes a number at `at`, where there are DIGITS_ROOM bytes, and returns its end.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define DIGITS_ROOM 24u

extern const char digits_fours[]; /* "000000010002" ... "9999" */

static inline char *digits_decimal(char *at, uint64_t value)
{
    const char *four = digits_fours + 4 * (value % 10000);
    uint32_t leading;

    if (value >= 10000) {
        at = digits_decimal(at, value / 10000);
        memcpy(at, four, 4);
        return at + 4;
    }
    leading = (value < 10) + (value < 100) + (value < 1000);
    memcpy(at, four + leading, 4); /* and what follows, which is overwritten */
    return at + 4 - leading;
}

/* With 0x.  The digits of 32 bits are spread to a byte each, and made letters where above 9. */
static inline char *digits_hex(char *at, uint64_t value)
{
    uint32_t count = 16 - (uint32_t)__builtin_clzll(value | 1) / 4;

    *at++ = '0';
    *at++ = 'x';
    value <<= 4 * (16 - count);
    for (uint32_t i = 0; i < count; i += 8, value <<= 32) {
        uint64_t spread = value >> 32, letters;

        spread = (spread << 16 | spread) & 0x0000ffff0000ffff;
        spread = (spread << 8 | spread) & 0x00ff00ff00ff00ff;
        spread = (spread << 4 | spread) & 0x0f0f0f0f0f0f0f0f;
        letters = (spread + 0x0606060606060606) >> 4 & 0x0101010101010101;
        spread = __builtin_bswap64(spread + 0x3030303030303030 + letters * ('a' - '9' - 1));
        memcpy(at + i, &spread, sizeof spread);
    }
    return at + count;
}
