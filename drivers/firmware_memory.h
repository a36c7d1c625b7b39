/* Memory in which the firmware left tables.  Their contents are not trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/platform.h"

/* Returns `bytes` of physical memory (at least 1) below 4 GiB, or NULL if they cannot be a table.
 */
static inline const uint8_t *firmware_memory(uint64_t address, uint64_t bytes)
{
    const uint64_t end = 1ull << 32;

    if (address == 0 || address >= end || bytes > end - address)
        return NULL;
    if (platform_physical_pointer(address + bytes - 1) == NULL)
        return NULL; /* a kernel may refuse what is no memory */
    return platform_physical_pointer(address);
}

static inline bool firmware_memory_sums_to_zero(const uint8_t *bytes, size_t count)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum == 0;
}
