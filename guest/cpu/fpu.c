/* The CPU's XSAVE area. */
#include "guest/cpu/fpu.h"

#include "lib/x86.h"

uint32_t fpu_area_bytes(void)
{
    return x86_cpuid(13, 0).ebx;
}

uint64_t fpu_features(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
