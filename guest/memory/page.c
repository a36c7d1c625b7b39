/* Chooses how pages are filled and copied. */
#include "guest/memory/page.h"

#include <stdint.h>
#include <string.h>

#include "guest/base/layout.h"
#include "guest/memory/page_vector.h"
#include "lib/x86.h"

#define CPUID_AVX (1u << 28) /* leaf 1, ECX; set only while CR4.OSXSAVE is */
#define CPUID_OSXSAVE (1u << 27)
#define XCR0_AVX 6u /* SSE and AVX state */
#define XCR0_AVX512 0xe0u

static void zero_string(void *page)
{
    memset(page, 0, PAGE_BYTES);
}

static void copy_string(void *to, const void *from)
{
    memcpy(to, from, PAGE_BYTES);
}

static void copy_avx(void *to, const void *from)
{
    page_copy_blocks_avx(to, from, PAGE_BYTES);
}

static void copy_sse(void *to, const void *from)
{
    page_copy_blocks_sse(to, from, PAGE_BYTES);
}

static void (*copy_blocks)(void *to, const void *from, size_t bytes);
void (*page_zero)(void *page) = zero_string;
void (*page_copy)(void *to, const void *from) = copy_string;

/* Writing a YMM register clears what AVX-512 has above it. */
static bool has_plain_avx(void)
{
    const uint32_t wanted = CPUID_AVX | CPUID_OSXSAVE;
    uint64_t xcr0;

    if ((x86_cpuid(1, 0).ecx & wanted) != wanted)
        return false;
    xcr0 = x86_xgetbv(0);
    return (xcr0 & XCR0_AVX) == XCR0_AVX && !(xcr0 & XCR0_AVX512);
}

void page_choose(bool virtual_time)
{
    bool avx;

    if (!virtual_time)
        return;
    avx = has_plain_avx();
    page_zero = avx ? page_zero_avx : page_zero_sse;
    page_copy = avx ? copy_avx : copy_sse;
    copy_blocks = avx ? page_copy_blocks_avx : page_copy_blocks_sse;
}

void page_copy_bytes(void *to, const void *from, size_t bytes)
{
    size_t blocks = copy_blocks != NULL ? bytes & ~(size_t)(PAGE_BLOCK_BYTES - 1) : 0;

    if (blocks)
        copy_blocks(to, from, blocks);
    memcpy((uint8_t *)to + blocks, (const uint8_t *)from + blocks, bytes - blocks);
}
