/* The Internet checksum, eight bytes at a time: every byte that leaves goes through it. */
#include "guest/net/net_checksum.h"

#include <stddef.h>

#include "lib/bytes.h"

#define BLOCK_BYTES 64u

/* A sum of longer words folds to that of shorter ones, as long as no carry is lost: RFC 1071, 2. */
static uint64_t add_blocks(uint64_t sum, const uint8_t *p, size_t blocks)
{
    if (!blocks)
        return sum;
    __asm__("1:\n\t"
            "addq (%[p]), %[sum]\n\t"
            "adcq 8(%[p]), %[sum]\n\t"
            "adcq 16(%[p]), %[sum]\n\t"
            "adcq 24(%[p]), %[sum]\n\t"
            "adcq 32(%[p]), %[sum]\n\t"
            "adcq 40(%[p]), %[sum]\n\t"
            "adcq 48(%[p]), %[sum]\n\t"
            "adcq 56(%[p]), %[sum]\n\t"
            "adcq $0, %[sum]\n\t"
            "addq %[step], %[p]\n\t"
            "subq $1, %[blocks]\n\t"
            "jnz 1b"
            : [sum] "+r"(sum), [p] "+r"(p), [blocks] "+r"(blocks)
            : [step] "i"(BLOCK_BYTES), "m"(*(const uint8_t(*)[blocks * BLOCK_BYTES]) p)
            : "cc");
    return sum;
}

uint16_t net_checksum(const void *bytes, int count)
{
    const uint8_t *p = bytes, *end = p + count;
    size_t blocks = (size_t)count / BLOCK_BYTES;
    uint64_t sum = add_blocks(0, p, blocks);

    sum = (sum & UINT32_MAX) + (sum >> 32);
    for (p += blocks * BLOCK_BYTES; end - p >= 4; p += 4)
        sum += bytes_load32(p);
    if (end - p >= 2) {
        sum += p[0] | (uint32_t)p[1] << 8;
        p += 2;
    }
    if (p < end)
        sum += *p;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}
