/* CRC32C: three interleaved streams of the CRC32 instruction, or tables on a CPU without it. */
#include "lib/crc32c.h"

#include <cpuid.h>

#include "lib/bytes.h"

#define POLYNOMIAL_REFLECTED 0x82f63b78u
#define STREAM_BYTES ((size_t)1024) /* of each of the three interleaved streams */
#define STREAM_WORDS (STREAM_BYTES / 8)

enum method { METHOD_UNKNOWN = 0, METHOD_TABLE, METHOD_INSTRUCTION };

/* Filled once, before `method` leaves METHOD_UNKNOWN.  CPUs that race write equal values. */
static uint32_t slices[8][256];
static uint32_t stream_shift[4][256]; /* effect of STREAM_BYTES zero bytes on each state byte */
static int method;

static void fill_slices(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (POLYNOMIAL_REFLECTED & (0u - (crc & 1)));
        slices[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            slices[k][i] = (slices[k - 1][i] >> 8) ^ slices[0][slices[k - 1][i] & 0xff];
}

/* The effect of zero bytes is linear over GF(2): 32 single bits determine it. */
static void fill_stream_shift(void)
{
    for (int byte = 0; byte < 4; byte++) {
        for (int bit = 0; bit < 8; bit++) {
            uint32_t crc = 1u << (8 * byte + bit);

            for (size_t i = 0; i < STREAM_BYTES; i++)
                crc = (crc >> 8) ^ slices[0][crc & 0xff];
            for (uint32_t i = 0; i < (1u << bit); i++)
                stream_shift[byte][i | (1u << bit)] = stream_shift[byte][i] ^ crc;
        }
    }
}

static int prepare(void)
{
    uint32_t a, b, c, d;
    int found = METHOD_TABLE;

    fill_slices();
    fill_stream_shift();
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2))
        found = METHOD_INSTRUCTION;
    __atomic_store_n(&method, found, __ATOMIC_RELEASE);
    return found;
}

static int method_get(void)
{
    int found = __atomic_load_n(&method, __ATOMIC_ACQUIRE);

    return found != METHOD_UNKNOWN ? found : prepare();
}

static uint32_t update_table(uint32_t crc, const uint8_t *p, size_t count)
{
    for (; count >= 8; p += 8, count -= 8) {
        uint32_t low = bytes_load32(p) ^ crc;
        uint32_t high = bytes_load32(p + 4);

        crc = slices[7][low & 0xff] ^ slices[6][(low >> 8) & 0xff] ^ slices[5][(low >> 16) & 0xff] ^
              slices[4][low >> 24] ^ slices[3][high & 0xff] ^ slices[2][(high >> 8) & 0xff] ^
              slices[1][(high >> 16) & 0xff] ^ slices[0][high >> 24];
    }
    for (; count > 0; p++, count--)
        crc = (crc >> 8) ^ slices[0][(crc ^ *p) & 0xff];
    return crc;
}

static inline uint64_t step64(uint64_t crc, uint64_t value)
{
    __asm__("crc32q %1, %0" : "+r"(crc) : "rm"(value));
    return crc;
}

static inline uint32_t step8(uint32_t crc, uint8_t value)
{
    __asm__("crc32b %1, %0" : "+r"(crc) : "rm"(value));
    return crc;
}

static inline uint32_t shift_stream(uint32_t crc)
{
    return stream_shift[0][crc & 0xff] ^ stream_shift[1][(crc >> 8) & 0xff] ^
           stream_shift[2][(crc >> 16) & 0xff] ^ stream_shift[3][crc >> 24];
}

/* The instruction has a latency of three cycles and a throughput of one: run three chains. */
static uint32_t update_instruction(uint32_t crc, const uint8_t *p, size_t count)
{
    for (; count >= 3 * STREAM_BYTES; p += 3 * STREAM_BYTES, count -= 3 * STREAM_BYTES) {
        uint64_t first = crc, second = 0, third = 0;

        for (size_t i = 0; i < STREAM_WORDS; i++) {
            first = step64(first, bytes_load64(p + 8 * i));
            second = step64(second, bytes_load64(p + STREAM_BYTES + 8 * i));
            third = step64(third, bytes_load64(p + 2 * STREAM_BYTES + 8 * i));
        }
        crc = shift_stream((uint32_t)first) ^ (uint32_t)second;
        crc = shift_stream(crc) ^ (uint32_t)third;
    }
    for (; count >= 8; p += 8, count -= 8)
        crc = (uint32_t)step64(crc, bytes_load64(p));
    for (; count > 0; p++, count--)
        crc = step8(crc, *p);
    return crc;
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count)
{
    if (method_get() == METHOD_INSTRUCTION)
        return ~update_instruction(~crc, bytes, count);
    return ~update_table(~crc, bytes, count);
}

uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t count)
{
    method_get();
    return ~update_table(~crc, bytes, count);
}
