/* What the drivers ask of the kernel (drivers/platform.h), apart from waiting. */
#include "drivers/platform.h"

#include <string.h>

#include "guest/base/image.h"
#include "guest/base/log.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    return (volatile void *)vm_map_device(physical, bytes);
}

const void *platform_physical_pointer(uint64_t physical)
{
    return physical < phys_mapped_end() ? phys_pointer(physical) : NULL;
}

void *platform_allocate(size_t bytes)
{
    unsigned order = phys_order(bytes);
    uint64_t block = order <= PHYS_ORDER_MAX ? phys_alloc(order) : 0;

    if (!block)
        return NULL;
    memset(phys_pointer(block), 0, (size_t)PAGE_BYTES << order);
    return phys_pointer(block);
}

uint64_t platform_physical_address(const void *pointer)
{
    uint64_t address = (uint64_t)pointer;

    if (address >= STACK_MAP && address < KERNEL_BASE)
        return vm_stack_physical(address);
    return address >= KERNEL_BASE ? image_physical(pointer) : address - DIRECT_MAP;
}

void platform_log(const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    format_text_v(line, sizeof line, format, arguments);
    va_end(arguments);
    log_line("%s", line);
}
