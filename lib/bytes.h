/* Unaligned little-endian loads and stores, for the kernel and the host command.
 *
 * They name the compiler's builtins because -ffreestanding turns plain memcpy into calls.
 */
#pragma once

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace is written in host order");

static inline uint16_t bytes_load16(const void *from)
{
    uint16_t value;

    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

static inline uint32_t bytes_load32(const void *from)
{
    uint32_t value;

    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

static inline uint64_t bytes_load64(const void *from)
{
    uint64_t value;

    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

static inline void bytes_store16(void *to, uint16_t value)
{
    __builtin_memcpy(to, &value, sizeof value);
}

static inline void bytes_store32(void *to, uint32_t value)
{
    __builtin_memcpy(to, &value, sizeof value);
}

static inline void bytes_store64(void *to, uint64_t value)
{
    __builtin_memcpy(to, &value, sizeof value);
}
