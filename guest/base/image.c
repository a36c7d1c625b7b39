/* The kernel image's place in physical memory. */
#include "guest/base/image.h"

static uint64_t start_physical;

void image_place(uint64_t kernel_start_physical)
{
    start_physical = kernel_start_physical;
}

uint64_t image_physical(const void *address)
{
    return (uint64_t)address - (uint64_t)kernel_start + start_physical;
}
