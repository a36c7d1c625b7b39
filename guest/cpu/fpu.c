/* The CPU's XSAVE area. */
#include "guest/cpu/fpu.h"

#include <string.h>

#include "lib/x86.h"

#define FPU_MXCSR 24u /* its place in the area */
#define FPU_HEADER_END 576u /* legacy part and XSAVE header */

uint32_t fpu_area_bytes(void)
{
    return x86_cpuid(13, 0).ebx;
}

void fpu_reset(uint8_t *area)
{
    static const uint32_t mxcsr = FPU_MXCSR_DEFAULT;

    memset(area, 0, FPU_HEADER_END);
    memcpy(area + FPU_MXCSR, &mxcsr, sizeof mxcsr);
    __asm__ volatile("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

uint64_t fpu_features(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
