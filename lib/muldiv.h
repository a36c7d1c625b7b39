/* 64-bit a * b / c with a 128-bit product.  Freestanding: it needs no compiler's library. */
#pragma once

#include <stdint.h>

/* The quotient must fit in 64 bits (a * b / c < 2^64) and c must not be 0, else #DE. */
static inline uint64_t muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low, high, quotient;

    __asm__("mulq %3" : "=a"(low), "=d"(high) : "a"(a), "rm"(b) : "cc");
    __asm__("divq %4" : "=a"(quotient), "=d"(high) : "a"(low), "d"(high), "rm"(c) : "cc");
    return quotient;
}
